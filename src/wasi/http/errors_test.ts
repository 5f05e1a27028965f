import { assertEquals } from "@std/assert";
import { type Connect } from "../../egress/mod.ts";
import { openOrigin, PUBLIC, readUntil, type Serve } from "../../egress/gate_fixture.ts";
import { type NetFixtureOptions, openNetFixture, refusal } from "../net/net_fixture.ts";
import type { IoError } from "../io_error.ts";
import { ask, type Asked, handle, makeRequest, receive } from "./http_fixture.ts";

/** Asks an origin that answers with these bytes, and gives what comes of it. */
async function askOrigin(answer: string | Serve, asked: Asked = {}) {
  await using origin = openOrigin(answer);
  await using net = openNetFixture({ entries: [`http://127.0.0.1:${origin.port}`] });
  return await ask(net, `http://127.0.0.1:${origin.port}/`, asked);
}

async function failOrigin(answer: string | Serve, asked: Asked = {}): Promise<unknown> {
  const error = await refusal(() => askOrigin(answer, asked));
  const { tag, val } = error as { tag: string; val?: IoError };
  return tag === "last-operation-failed" ? { inBody: val!.httpCode } : error;
}

async function failName(names: Record<string, string[]>, more: Partial<NetFixtureOptions> = {}): Promise<unknown> {
  await using net = openNetFixture({ entries: ["http://a.example", "https://a.example"], names, ...more });
  const errors = [];
  for (const scheme of ["http", "https"]) errors.push(await refusal(() => ask(net, `${scheme}://a.example/`)));
  assertEquals(errors[0], errors[1]);
  return errors[0];
}

/** An origin that says nothing more, until the other side has gone. */
const silent: Serve = async (connection) => void await readUntil(connection, "never");

Deno.test("errors: what the gate says has its own code, through a tunnel as well", async () => {
  assertEquals(await failName({}), { tag: "DNS-error", val: {} });
  assertEquals(await failName({ "a.example": ["10.0.0.1"] }), { tag: "destination-IP-prohibited" });
  const rejecting = (error: Error): Connect => () => Promise.reject(error);
  const names = { "a.example": [PUBLIC] };
  const refused = rejecting(new Deno.errors.ConnectionRefused());
  assertEquals(await failName(names, { connect: refused }), { tag: "connection-refused" });
  assertEquals(await failName(names, { connect: rejecting(new Deno.errors.TimedOut()) }), {
    tag: "connection-timeout",
  });
  assertEquals(await failName(names, { connect: rejecting(new Error("no route")) }), {
    tag: "destination-unavailable",
  });
  const stuck: Connect = (_, __, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const limits = { connectTimeoutMs: 20 };
  assertEquals(await failName(names, { connect: stuck, limits }), { tag: "connection-timeout" });
});

Deno.test("errors: one connection too many is said to be that, and the next one after it is not", async () => {
  await using origin = openOrigin(silent);
  await using net = openNetFixture({ entries: [`http://127.0.0.1:${origin.port}`], limits: { connections: 1 } });
  const url = `http://127.0.0.1:${origin.port}/`;
  const first = handle(net, makeRequest(url));
  while (origin.count === 0) await new Promise((done) => setTimeout(done));
  assertEquals(await refusal(() => ask(net, url)), { tag: "connection-limit-reached" });
  first[Symbol.dispose]();
});

Deno.test("errors: an answer that is none, is cut off, or contradicts itself", async () => {
  const head = "HTTP/1.1 200 OK\r\n";
  assertEquals((await askOrigin(`${head}Content-Length: 2\r\n\r\nok`)).text, "ok");
  assertEquals(await failOrigin("nonsense\r\n\r\n"), { tag: "HTTP-protocol-error" });
  assertEquals(await failOrigin(""), { tag: "connection-terminated" });
  assertEquals(await failOrigin(`${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`), {
    tag: "HTTP-protocol-error",
  });
  assertEquals(await failOrigin(`${head}Content-Length: 3\r\n\r\nok`), { inBody: { tag: "HTTP-response-incomplete" } });
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
  assertEquals((await askOrigin(`${chunked}2\r\nok\r\n1;x\r\n!\r\n0\r\nX-Trailer: a\r\n\r\n`)).text, "ok!");
  assertEquals(await failOrigin(`${chunked}2\r\nok\r\n`), { inBody: { tag: "HTTP-response-incomplete" } });
});

Deno.test("errors: an origin cannot speak for the gate", async () => {
  const answer = await askOrigin("HTTP/1.1 200 OK\r\nx-boll-error: denied\r\nContent-Length: 2\r\n\r\nok");
  assertEquals([answer.text, answer.headers.map(([name]) => name)], ["ok", ["content-length"]]);
});

Deno.test("timeouts: each has its own code, and a server that is quick enough meets none", async () => {
  const timeouts = { connectMs: 60_000, firstByteMs: 60_000, betweenBytesMs: 60_000 };
  assertEquals((await askOrigin("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", timeouts)).text, "ok");
  assertEquals(await failOrigin(silent, { ...timeouts, firstByteMs: 5 }), { tag: "HTTP-response-timeout" });
  const half: Serve = async (connection) => {
    await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"));
    await silent(connection, "");
  };
  assertEquals(await failOrigin(half, { ...timeouts, betweenBytesMs: 5 }), {
    inBody: { tag: "connection-read-timeout" },
  });
  const stuck: Connect = (_, __, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  await using net = openNetFixture({
    entries: ["https://a.example"],
    names: { "a.example": [PUBLIC] },
    connect: stuck,
  });
  const future = handle(net, makeRequest("https://a.example/"), { connectMs: 5 });
  assertEquals(await refusal(() => receive(future)), { tag: "connection-timeout" });
});
