import { assert, assertEquals, assertMatch } from "@std/assert";
import { openOrigin, readUntil, write } from "../../egress/gate_fixture.ts";
import { thrown } from "../host_fixture.ts";
import { openNetFixture, readAll, refusal } from "../net/net_fixture.ts";
import { utf8 } from "../net/stream_fixture.ts";
import { ask, handle, makeRequest, readResponse, receive, serve, TLS } from "./http_fixture.ts";
import { OutgoingBody } from "./outgoing_body.ts";

Deno.test("handle: method, path, fields and body arrive as they were given; nothing is added but what the wire needs", async () => {
  await using server = serve((request, body) => {
    const headers = new Headers({ "x-seen": JSON.stringify([...request.headers]) });
    return new Response(`${request.method} ${new URL(request.url).search} ${body}`, { status: 201, headers });
  });
  await using net = openNetFixture({ entries: [`http://127.0.0.1:${server.port}`] });
  const answer = await ask(net, `http://127.0.0.1:${server.port}/a?b=1`, {
    method: "post",
    headers: [["X-One", "1"], ["x-one", "2"]],
    body: "hello",
  });
  assertEquals([answer.status, answer.text, server.asked], [201, "POST ?b=1 hello", ["POST /a hello"]]);
  const seen = JSON.parse(answer.headers.find(([name]) => name === "x-seen")![1]);
  assertEquals(seen.map(([name]: [string]) => name), ["connection", "host", "transfer-encoding", "x-one"]);
  assertEquals((await ask(net, `http://127.0.0.1:${server.port}/`)).text, "GET  ");
});

Deno.test("handle: only the entry's scheme, host and port; a refusal is told once, with the entry that would allow it", async () => {
  await using server = serve(() => new Response("no"));
  const { port } = server;
  await using net = openNetFixture({ entries: [`http://127.0.0.1:${port}`, "https://*.b.example"] });
  assertEquals((await ask(net, `http://127.0.0.1:${port}/`)).status, 200);
  const refused = [
    `https://127.0.0.1:${port}/`,
    `http://localhost:${port}/`,
    "http://127.0.0.1/",
    "https://b.example/",
    "https://a.b.example:444/",
  ];
  for (const url of refused) {
    assertEquals(thrown(() => handle(net, makeRequest(url))), { tag: "HTTP-request-denied" }, url);
    assertEquals(thrown(() => handle(net, makeRequest(url))), { tag: "HTTP-request-denied" }, url);
  }
  const entries = [`https://127.0.0.1:${port}`, `http://localhost:${port}`, "http://127.0.0.1", "https://b.example"];
  assertEquals(net.denials.map(({ asked }) => asked), [...entries, "https://a.b.example:444"]);
  assertEquals(net.denials[2]?.allow, '--net http://127.0.0.1 or "net": ["http://127.0.0.1"] in grants');
  assertEquals([server.asked.length, net.gateDenials], [1, []]);
});

Deno.test("handle: what is no request is refused by name", async () => {
  await using net = openNetFixture({ entries: ["http://a.example"] });
  const invalid = makeRequest("http://a.example/");
  invalid.setAuthority(undefined);
  assertEquals(thrown(() => handle(net, invalid)), { tag: "HTTP-request-URI-invalid" });
  const ftp = makeRequest("http://a.example/");
  ftp.setScheme({ tag: "other", val: "ftp" });
  assertEquals(thrown(() => handle(net, ftp)), { tag: "HTTP-request-URI-invalid" });
  const long = makeRequest(`http://a.example/${"a".repeat(32_768)}`);
  assertEquals(thrown(() => handle(net, long)), { tag: "HTTP-request-URI-too-long" });
  const connect = makeRequest("http://a.example/", { method: "connect" });
  assertEquals(thrown(() => handle(net, connect)), { tag: "HTTP-request-method-invalid" });
  const wide = makeRequest("http://a.example/", { headers: [["a", "x".repeat(60_000)]] });
  assertEquals(thrown(() => handle(net, wide)), { tag: "HTTP-request-header-section-size", val: 60_005 });
  const promised = makeRequest("http://a.example/", { headers: [["content-length", "5"]] });
  assertEquals(thrown(() => handle(net, promised)), { tag: "HTTP-request-body-size", val: 0n });
  const twice = makeRequest("http://a.example/", { headers: [["content-length", "5"], ["content-length", "6"]] });
  assertEquals(thrown(() => handle(net, twice)), { tag: "HTTP-request-body-size" });
});

Deno.test("handle: TLS end to end, with an authority that is trusted here, and with no other", async () => {
  await using server = serve((request) => new Response(new URL(request.url).protocol), TLS);
  const entries = [`https://localhost:${server.port}`, `https://127.0.0.1:${server.port}`];
  const url = `https://localhost:${server.port}/`;
  await using trusting = openNetFixture({ entries, caCerts: [TLS.ca] });
  assertEquals((await ask(trusting, url)).text, "https:");
  assertEquals((await ask(trusting, `https://127.0.0.1:${server.port}/`)).text, "https:");
  await using strict = openNetFixture({ entries });
  assertEquals(await refusal(() => ask(strict, url)), { tag: "TLS-certificate-error" });
  await using plain = serve(() => new Response("no"));
  await using wrong = openNetFixture({ entries: [`https://127.0.0.1:${plain.port}`] });
  assertEquals(await refusal(() => ask(wrong, `https://127.0.0.1:${plain.port}/`)), { tag: "TLS-protocol-error" });
});

Deno.test("handle: a GET whose body is opened and left empty is sent without one, also when the guest never finishes it", async () => {
  await using server = serve((request) => new Response(String(request.headers.get("transfer-encoding"))));
  await using net = openNetFixture({ entries: [`http://127.0.0.1:${server.port}`] });
  const finished = makeRequest(`http://127.0.0.1:${server.port}/`);
  const body = finished.body();
  const future = handle(net, finished);
  OutgoingBody.finish(body, undefined);
  assertEquals((await readResponse(await receive(future))).text, "null");
  const dropped = makeRequest(`http://127.0.0.1:${server.port}/`);
  const lost = dropped.body();
  const other = handle(net, dropped);
  lost[Symbol.dispose]();
  assertEquals(await refusal(() => receive(other)), { tag: "HTTP-protocol-error" });
});

Deno.test("handle: the answer comes while the body still goes, and ends it", async () => {
  const reader = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    await request.body!.getReader().read();
    reader.resolve();
    return new Response("enough", { status: 413 });
  });
  await using net = openNetFixture({ entries: [`http://127.0.0.1:${server.addr.port}`] });
  const request = makeRequest(`http://127.0.0.1:${server.addr.port}/`, { method: "post" });
  const stream = request.body().write();
  const future = handle(net, request);
  await stream.blockingWriteAndFlush(utf8("x"));
  await reader.promise;
  const answer = await readResponse(await receive(future));
  assertEquals([answer.status, answer.text], [413, "enough"]);
  const error = await refusal(() => stream.blockingWriteAndFlush(utf8("more"))) as { tag: string };
  assertEquals(error.tag, "last-operation-failed");
  await server.shutdown();
});

Deno.test("handle: a hundred requests at once, each with its own answer", async () => {
  await using server = serve((_, body) => new Response(body));
  await using net = openNetFixture({ entries: [`http://127.0.0.1:${server.port}`] });
  const bodies = Array.from({ length: 100 }, (_, index) => `request ${index}`);
  const url = `http://127.0.0.1:${server.port}/`;
  const texts = await Promise.all(bodies.map(async (body) => (await ask(net, url, { method: "post", body })).text));
  assertEquals(texts, bodies);
});

Deno.test("handle: a future is read once; dropping it, or a body, takes the request back", async () => {
  const events: string[] = [];
  const gone = new Map(["/endless", "/silent"].map((path) => [path, Promise.withResolvers<void>()]));
  const started = Promise.withResolvers<void>();
  await using origin = openOrigin(async (connection, head) => {
    const [, path = ""] = head.split(" ");
    started.resolve();
    if (path === "/endless") await write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nsome");
    await readUntil(connection, "never");
    events.push(path);
    gone.get(path)!.resolve();
  });
  const base = `http://127.0.0.1:${origin.port}`;
  await using net = openNetFixture({ entries: [base] });
  const silent = handle(net, makeRequest(`${base}/silent`));
  await started.promise;
  silent[Symbol.dispose]();
  await gone.get("/silent")!.promise;
  const future = handle(net, makeRequest(`${base}/endless`));
  const response = await receive(future);
  assertEquals(future.get(), { tag: "err" });
  const body = response.consume();
  assertEquals(thrown(() => response.consume()), undefined);
  const stream = body.stream();
  assertEquals(thrown(() => body.stream()), undefined);
  assertEquals(await stream.blockingRead(10n), utf8("some"));
  assertEquals(events, ["/silent"]);
  stream[Symbol.dispose]();
  await gone.get("/endless")!.promise;
});

Deno.test("handle: no object that a guest can hold leads to the credential", async () => {
  await using server = serve(() => new Response("x"));
  await using net = openNetFixture({ entries: [`http://127.0.0.1:${server.port}`] });
  const request = makeRequest(`http://127.0.0.1:${server.port}/`);
  const future = handle(net, request);
  const response = await receive(future);
  const body = response.consume();
  const stream = body.stream();
  assertEquals(await readAll(stream), "x");
  const seen = new Set<unknown>();
  const walk = (value: unknown) => {
    if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) {
      assert(typeof value !== "string" || !value.includes(net.password));
      return;
    }
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) walk(Reflect.getOwnPropertyDescriptor(value, key)?.value);
    walk(Object.getPrototypeOf(value));
  };
  for (const part of [net.wasi.imports, request, future, response, body, stream, response.headers()]) walk(part);
  assert(seen.size > 100);
  const headers = response.headers().entries().map(([name]) => name).join();
  assertMatch(headers, /content-length/);
  assert(!/proxy|connection/.test(headers));
});

Deno.test("cut: requests under way are closed at once, before their head and within their body, and later ones fail", async () => {
  const [asked, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using silent = openOrigin(async (connection, head) => {
    if (head.startsWith("GET /body")) await write(connection, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na");
    else asked.resolve();
    await connection.read(new Uint8Array(1)).catch(() => null);
    if (silent.count === 2) gone.resolve();
  });
  const base = `http://127.0.0.1:${silent.port}`;
  await using net = openNetFixture({ entries: [base] });
  const headless = handle(net, makeRequest(`${base}/head`));
  const stream = (await receive(handle(net, makeRequest(`${base}/body`)))).consume().stream();
  assertEquals(await stream.blockingRead(9n), utf8("a"));
  await asked.promise;
  net.wasi.cut();
  await gone.promise;
  assertEquals(await refusal(() => receive(headless)), { tag: "connection-terminated" });
  assertEquals(((await refusal(() => stream.blockingRead(9n))) as { tag: string }).tag, "last-operation-failed");
  assertEquals(await refusal(() => ask(net, `${base}/late`)), { tag: "connection-terminated" });
  assertEquals(silent.count, 2);
});
