import { assertEquals } from "@std/assert";
import { openTestGate } from "./gate_fixture.ts";

Deno.test("openGate: Deno's own fetch goes through it, with bodies both ways, and learns of a denial", async () => {
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const body = await request.text();
    return new Response(`${request.method} ${new URL(request.url).pathname} ${body.length}`, { status: 201 });
  });
  const { port } = server.addr;
  await using test = openTestGate({ entries: [`http://localhost:${port}`] });
  const { gate } = test;
  using client = Deno.createHttpClient({
    proxy: {
      url: `http://127.0.0.1:${gate.port}`,
      basicAuth: { username: gate.credential.user, password: gate.credential.password },
    },
  });
  const send = async (path: string, body?: BodyInit) => {
    const method = body === undefined ? "GET" : "POST";
    const response = await fetch(`http://localhost:${port}${path}`, {
      client,
      method,
      ...(body !== undefined && { body }),
    });
    return [response.status, await response.text()];
  };
  assertEquals(await send("/a"), [201, "GET /a 0"]);
  assertEquals(await send("/b", "x".repeat(100_000)), [201, "POST /b 100000"]);
  assertEquals(await send("/c", new Blob(["x".repeat(300_000)]).stream()), [201, "POST /c 300000"]);
  const denied = await fetch("http://evil.test/", { client });
  await denied.body?.cancel();
  assertEquals([denied.status, denied.headers.get("x-boll-denied")], [403, "http://evil.test"]);
});

Deno.test("openGate: fetch opens a tunnel for https, TLS end to end, and asks afterwards why one was not made", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const seen = listener.accept().then(async (connection) => {
    const buffer = new Uint8Array(1024);
    await connection.read(buffer);
    connection.close();
    return [...buffer.subarray(0, 2)];
  });
  const place = `127.0.0.1:${listener.addr.port}`;
  await using test = openTestGate({ entries: [`https://${place}`] });
  const { gate } = test;
  using client = Deno.createHttpClient({
    proxy: {
      url: `http://127.0.0.1:${gate.port}`,
      basicAuth: { username: gate.credential.user, password: gate.credential.password },
    },
  });
  const fail = (url: string) => fetch(url, { client }).then(() => "no error", (error) => error.constructor.name);
  assertEquals(await fail(`https://${place}/`), "TypeError");
  // The first bytes of a TLS handshake.
  assertEquals(await seen, [22, 3]);
  assertEquals(await fail("https://evil.test/"), "TypeError");
  const headers = { "proxy-authorization": gate.authorization };
  const why = await fetch(`http://127.0.0.1:${gate.port}/failure/evil.test:443`, { headers });
  assertEquals([why.status, await why.json()], [200, { error: "denied" }]);
  await gate.close();
  assertEquals(test.connections.map(({ scheme, outcome }) => [scheme, outcome]), [["https", "opened"]]);
  assertEquals(test.denials.map(({ allow }) => allow), ["https://evil.test"]);
});
