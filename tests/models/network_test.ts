import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
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

Deno.test("openModel: the operator's proxy is the only way out, when there is one", async () => {
  await using proxy = ModelServer.start({ turns: TURNS });
  await using server = ModelServer.start({ turns: TURNS });
  const model = await openAt(server.url, "openai", { proxy: new URL(proxy.url).origin });
  assertEquals((await ask(model)).answer.text, "Hi");
  assertEquals([proxy.requests.length, server.requests.length], [1, 0]);
  model.close();
  const lost = await openAt(server.url, "openai", { proxy: "http://127.0.0.1:1", clock: new TestClock() });
  const error = await assertRejects(() => ask(lost), CapsuleError);
  assertStringIncludes(error.message, server.url.slice(0, -"/v1".length));
  assertEquals([error.code, server.requests.length], ["model.unreachable", 0]);
  lost.close();
});
