import { assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../../src/base/mod.ts";
import { makeCertificate } from "./certificate.ts";
import { ask, openAt, TestClock } from "./model_fixture.ts";
import { ModelServer } from "./model_server.ts";

const TURNS = [{ text: "Hi" }];

Deno.test("openModel: TLS to a certificate that the operator trusts, and to no other", async () => {
  const [tls, other] = [await makeCertificate(), await makeCertificate()];
  await using server = ModelServer.start({ turns: TURNS, tls });
  for (const caCerts of [[], [other.cert]]) {
    const model = await openAt(server.url, "openai", { caCerts, clock: new TestClock() });
    const error = await assertRejects(() => ask(model), CapsuleError, "its certificate is not trusted");
    assertEquals(error.code, "model.unreachable");
    model.close();
  }
  assertEquals(server.requests.length, 0);
  const model = await openAt(server.url, "openai", { caCerts: [tls.cert] });
  assertEquals((await ask(model)).answer.text, "Hi");
  model.close();
});

Deno.test("openModel: the operator's proxy is the only way out, but for loopback, which would be the proxy's own", async () => {
  const tls = await makeCertificate();
  await using server = ModelServer.start({ turns: [...TURNS, ...TURNS], tls });
  using proxy = new TunnelProxy(Number(new URL(server.url).port));
  const options = { proxy: proxy.url, caCerts: [tls.cert], clock: new TestClock() };
  const outward = await openAt("https://model.test/v1", "openai", options);
  assertEquals((await ask(outward)).answer.text, "Hi");
  outward.close();
  assertEquals(proxy.asked, ["CONNECT model.test:443 HTTP/1.1"]);
  const inward = await openAt(server.url, "openai", options);
  assertEquals([(await ask(inward)).answer.text, proxy.asked.length], ["Hi", 1]);
  inward.close();
  const lost = await openAt("https://model.test/v1", "openai", { ...options, proxy: "http://127.0.0.1:1" });
  const error = await assertRejects(() => ask(lost), CapsuleError, "Reach the model: found https://model.test: ");
  assertEquals([error.code, server.requests.length], ["model.unreachable", 2]);
  lost.close();
});

/** Takes every tunnel to one port of this machine, whatever its name. */
class TunnelProxy implements Disposable {
  readonly asked: string[] = [];
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open = new Set<Deno.Conn>();

  constructor(port: number) {
    void this.#accept(port);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  [Symbol.dispose](): void {
    this.#listener.close();
    for (const connection of this.#open) {
      try {
        connection.close();
      } catch {
        // Its streams closed it.
      }
    }
  }

  async #accept(port: number): Promise<void> {
    for await (const client of this.#listener) {
      const head = new Uint8Array(4_096);
      const length = await client.read(head) ?? 0;
      this.asked.push(new TextDecoder().decode(head.subarray(0, length)).split("\r\n")[0]!);
      const server = await Deno.connect({ hostname: "127.0.0.1", port });
      this.#open.add(client).add(server);
      await client.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n\r\n"));
      client.readable.pipeTo(server.writable).catch(() => {}).finally(() => this.#open.delete(server));
      server.readable.pipeTo(client.writable).catch(() => {}).finally(() => this.#open.delete(client));
    }
  }
}
