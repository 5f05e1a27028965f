import { assertEquals, assertRejects } from "@std/assert";
import { send } from "./load.ts";

Deno.test("send asks as often as it should over so many connections, and refuses an answer that is not 200", async () => {
  const seen = { requests: 0, ports: new Set<number>() };
  let status = 200;
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (_, { remoteAddr }) => {
    seen.requests++;
    seen.ports.add(remoteAddr.port);
    return new Response("hello", { status });
  });
  const { firstByteMs, wholeMs } = await send({ port: server.addr.port, connections: 3, requests: 12 });
  assertEquals([seen.requests, seen.ports.size, firstByteMs.length, wholeMs.length], [12, 3, 12, 12]);
  assertEquals(wholeMs.length, 12);
  status = 503;
  await assertRejects(
    () => send({ port: server.addr.port, connections: 1, requests: 1 }),
    Error,
    "found status 503, wanted 200",
  );
});
