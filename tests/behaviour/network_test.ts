import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { type Bed, fixture, forExecutable, forMode, type ProbeResult } from "../harness.ts";
import { zeroes } from "./zeroes.ts";

/** Runs a source in a guest that can send requests, or has sockets, with what `net` grants. */
async function run(bed: Bed, probe: string, net: readonly string[], source: string): Promise<ProbeResult> {
  const flags = net.flatMap((entry) => ["--net", entry]);
  const result = await bed.run(["run", await fixture(probe), ...flags, "--", source]);
  const line = result.stdout.trimEnd().split("\n").at(-1) ?? "";
  return { ...result, value: line.startsWith("{") || /^["[\dtfn]/.test(line) ? JSON.parse(line) : undefined };
}

/** A server on 127.0.0.1 that knows a few paths. */
function serve(): { base: string; asked: string[] } & AsyncDisposable {
  const asked: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const url = new URL(request.url);
    asked.push(`${request.method} ${url.pathname}`);
    if (url.pathname === "/zeroes") return new Response(zeroes(Number(url.searchParams.get("n"))));
    if (url.pathname === "/to") return new Response(null, { status: 302, headers: { location: url.search.slice(1) } });
    if (url.pathname === "/silent") return await new Promise<Response>((done) => whenGone(request, done));
    let bytes = 0;
    for await (const piece of request.body ?? []) bytes += piece.length;
    return new Response(`${request.method} ${url.pathname} ${bytes}`);
  });
  return { base: `http://127.0.0.1:${server.addr.port}`, asked, [Symbol.asyncDispose]: () => server.shutdown() };
}

function whenGone(request: Request, done: (response: Response) => void): void {
  request.signal.addEventListener("abort", () => done(new Response()));
}

const MEBIBYTES_64 = 64 * 2 ** 20;

forExecutable(
  "http: a granted server is asked, each connection is in the trace, and nothing of the credential",
  async (bed) => {
    await using server = serve();
    const source =
      `const got = request("${server.base}/a", { method: "post", body: "hello" }); return [got.status, got.text]`;
    const result = await run(bed, "http_probe", [server.base], source);
    assertEquals([result.value, result.code, result.stderr], [[200, "POST /a 5"], 0, ""]);
    const events = bed.trace().filter(({ event }) => event === "connection");
    assertEquals(events.map(({ grant, outcome, address }) => [grant, outcome, address]), [
      [server.base, "opened", "127.0.0.1"],
    ]);
    const records = JSON.stringify(bed.trace());
    assert(!/credential|Basic |boll:[0-9a-f]{32}/.test(records));
  },
);

forExecutable(
  "http: an unlisted host, port or scheme is refused with the flag that would allow it, and never asked",
  async (bed) => {
    await using server = serve();
    await using other = serve();
    const urls = [other.base, server.base.replace("http:", "https:"), server.base.replace("127.0.0.1", "localhost")];
    const source = `${JSON.stringify(urls)}.map((url) => attempt(() => request(url + "/")).err?.tag)`;
    const result = await run(bed, "http_probe", [server.base], source);
    assertEquals(result.value, urls.map(() => "HTTP-request-denied"));
    for (const url of urls) assertStringIncludes(result.stderr, `--net ${url}`);
    assertEquals([server.asked, other.asked], [[], []]);
    const denied = bed.trace().filter(({ event }) => event === "denied");
    assertEquals(denied.map(({ grant, asked }) => [grant, asked]), urls.map((url) => ["net", url]));
    assertEquals((await run(bed, "http_probe", [other.base], `request("${other.base}/").status`)).value, 200);
  },
);

forMode("binary", "http: a redirect to an unlisted place is refused, to a listed one followed", async (bed) => {
  await using server = serve();
  await using other = serve();
  const source =
    `const got = attempt(() => request("${server.base}/to?${other.base}/x")); return got.err?.tag ?? got.ok.text`;
  assertEquals((await run(bed, "http_probe", [server.base], source)).value, "HTTP-request-denied");
  assertEquals(other.asked, []);
  assertEquals((await run(bed, "http_probe", [server.base, other.base], source)).value, "GET /x 0");
});

forMode("binary", "http: 64 MiB down and up, as many as the other side sends and takes", async (bed) => {
  await using server = serve();
  const down =
    `const body = receive(start("${server.base}/zeroes?n=${MEBIBYTES_64}")).consume(); return pump(body.stream())`;
  assertEquals((await run(bed, "http_probe", [server.base], down)).value, MEBIBYTES_64);
  const up = `
    const asked = makeRequest("${server.base}/up", { method: "put" });
    const body = asked.body();
    const future = handler.handle(asked, undefined);
    const stream = body.write();
    for (let left = ${MEBIBYTES_64}; left > 0;) {
      const room = stream.subscribe();
      room.block();
      room[Symbol.dispose]();
      const count = Math.min(left, stream.checkWrite());
      stream.writeZeroes(count);
      left -= count;
    }
    stream[Symbol.dispose]();
    http.OutgoingBody.finish(body, undefined);
    return readResponse(receive(future)).text`;
  assertEquals((await run(bed, "http_probe", [server.base], up)).value, `PUT /up ${MEBIBYTES_64}`);
});

forMode("binary", "http: a hundred requests under way at once", async (bed) => {
  await using server = serve();
  const source = `
    const futures = Array.from({ length: 100 }, (_, index) => start("${server.base}/" + index));
    return futures.map((future) => readResponse(receive(future)).text)`;
  const result = await run(bed, "http_probe", [server.base], source);
  assertEquals(result.value, Array.from({ length: 100 }, (_, index) => `GET /${index} 0`));
});

forMode("binary", "http: a silent server ends as the timeout that the guest set", async (bed) => {
  await using server = serve();
  const source = `attempt(() => request("${server.base}/silent", { firstByteMs: 20 })).err.tag`;
  assertEquals((await run(bed, "http_probe", [server.base], source)).value, "HTTP-response-timeout");
});

forMode(
  "binary",
  "http: without a net grant the component does not start",
  async (bed) => {
    await using server = serve();
    const guest = await fixture("http_probe");
    const source = `request("${server.base}/").status`;
    assertEquals((await bed.run(["run", guest, "--net", server.base, "--", source])).code, 0);
    for (const flags of [[], ["--no-net"]]) {
      const result = await bed.run(["run", guest, ...flags, "--", source]);
      assertEquals([result.code, result.stdout], [5, ""]);
      assertMatch(result.stderr, /wasi:http\/outgoing-handler@0\.2\.\d+: it needs the grant net/);
    }
  },
);

forExecutable(
  "sockets: TCP through the gate to a granted place; its name is looked up, any other is refused",
  async (bed) => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const served = (async () => {
      using connection = await listener.accept();
      await connection.write(new TextEncoder().encode("banner "));
      const buffer = new Uint8Array(99);
      await connection.write(buffer.subarray(0, await connection.read(buffer) ?? 0));
    })();
    const { port } = listener.addr;
    const source = `
    const denied = [attempt(() => lookUp("other.example")).err, attempt(() => connect(ipv4([127, 0, 0, 1], 9))).err];
    const found = lookUp("localhost");
    const { socket, input, output } = connect(ipv4([127, 0, 0, 1], ${port}));
    writeText(output, "hello");
    return [denied, found[0], readText(input)]`;
    const result = await run(bed, "sockets_probe", [`tcp://localhost:${port}`], source);
    assertEquals(result.value, [["access-denied", "access-denied"], "127.0.0.1", "banner hello"]);
    assertStringIncludes(result.stderr, "--net tcp://127.0.0.1:9");
    await served;
    listener.close();
  },
);

forExecutable("sockets: listens on a granted port of loopback", async (bed) => {
  const port = freePort();
  const source = `
    const listener = listen(ipv4([0, 0, 0, 0], ${port}));
    print("listening");
    const [socket, input, output] = finish(listener, () => listener.accept());
    const heard = readText(input);
    writeText(output, "heard " + heard);
    return [heard, attempt(() => listen(ipv4([0, 0, 0, 0], 9))).err]`;
  const boll = bed.start(["run", await fixture("sockets_probe"), "--net", `listen:${port}`, "--", source]);
  await boll.stdout.waitFor("listening");
  const client = await Deno.connect({ hostname: "127.0.0.1", port });
  await client.write(new TextEncoder().encode("ping"));
  await client.closeWrite();
  assertEquals(await new Response(client.readable).text(), "heard ping");
  const { stdout } = await boll.result();
  assertEquals(stdout, 'listening\n["ping","access-denied"]\n');
});

forMode("binary", "sockets: datagrams to a granted peer and to no other", async (bed) => {
  const { createSocket } = await import("node:dgram");
  const peer = createSocket("udp4");
  peer.on("message", (data, { port, address }) => peer.send(`echo ${data}`, port, address));
  await new Promise<void>((done) => peer.bind(0, "127.0.0.1", done));
  const { port } = peer.address();
  const source = `
    const { incoming, outgoing } = datagrams();
    sendText(outgoing, "hi", ipv4([127, 0, 0, 1], ${port}));
    const refused = attempt(() => sendText(outgoing, "hi", ipv4([127, 0, 0, 1], 9))).err;
    return [receiveText(incoming).text, refused]`;
  assertEquals((await run(bed, "sockets_probe", [`udp://127.0.0.1:${port}`], source)).value, [
    "echo hi",
    "access-denied",
  ]);
  await new Promise<void>((done) => void peer.close(done));
});

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
