import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { fixture, forExecutable, forMode, REPOSITORY, type TraceEvent } from "../harness.ts";
import { assertNothingLeft, cellsOf, waitForNoProcess } from "../process/leftovers.ts";
import { peakMemoryBytes } from "../processes.ts";
import {
  sendRaw,
  startService,
  stopService,
  waitForEvent,
  waitForEvents,
  waitForLog,
  withService,
} from "./running_service.ts";

const MEBIBYTE = 1024 ** 2;

async function statusOf(response: Promise<Response>): Promise<number> {
  const { status, body } = await response;
  await body?.cancel();
  return status;
}

/** Asks until there is time for an answer: a request may wait for a cell that starts longer than it is given. */
async function askUntilServed(ask: () => Promise<Response>): Promise<string> {
  for (;;) {
    const response = await ask();
    const text = await response.text();
    if (![503, 504].includes(response.status)) return text;
  }
}

forExecutable(
  "serve-http: requests and responses whole, each in an instance of its own, and a record of each",
  (bed) =>
    withService(bed, ["--cells", "2"], async ({ url }, get) => {
      const counts = await Promise.all(Array.from({ length: 100 }, async () => await (await get("/count")).text()));
      assertEquals(counts, Array(100).fill("1"));
      const seen = await (await get("/headers?a=b%20c", { method: "PUT", headers: { "X-Own": "é", TE: "trailers" } }))
        .json();
      assertEquals([seen.method, seen.path, seen.scheme], ["put", "/headers?a=b%20c", "HTTP"]);
      assertEquals(`http://${seen.authority}`, url);
      const names = seen.headers.map(([name]: [string]) => name);
      assertEquals([names.includes("x-own"), names.includes("te"), names.includes("host")], [true, false, false]);
      const body = "request body ".repeat(1000);
      assertEquals(await (await get("/echo", { method: "POST", body })).text(), body);
      for (const status of [200, 204, 304, 404, 599]) assertEquals(await statusOf(get(`/status?${status}`)), status);
      const head = await get("/bytes?100", { method: "HEAD" });
      assertEquals([head.status, await head.text()], [200, ""]);
      // A length that nothing follows: HEAD's is told, the one of 304 may be left out (RFC 9110 §8.6).
      for (
        const [path, method, length] of [["200", "HEAD", "5"], ["200-", "HEAD", "5"], ["304", "GET", null]] as const
      ) {
        const promised = await get(`/promise?${path}`, { method });
        assertEquals([path, promised.headers.get("content-length"), await promised.text()], [path, length, ""]);
      }
      const { status, path } = await waitForEvent(bed, ({ event, method }) => event === "request" && method === "PUT");
      assertEquals([status, path], [200, "/headers"]);
    }),
);

forExecutable(
  "serve-http: what goes wrong in one request is its own 500, and the next is served",
  (bed) =>
    withService(bed, ["--cells", "1", "--memory", "64m"], async (_, get) => {
      const waiting = get("/wait?300-sibling");
      await waitForLog(bed, "300-sibling");
      const ways = ["/trap", "/exit", "/silent", "/hog", "/promise?200-", "/head?300x1", "/head?1x70000"];
      ways.push(...[101, 600].map((status) => `/status?${status}`));
      for (const path of ways) {
        assertEquals([path, await statusOf(get(path))], [path, 500]);
        assertEquals(await (await get("/count")).text(), "1");
      }
      for (const path of ["/torn", "/trap-after-head", "/short", "/long"]) {
        const begun = await get(path);
        assertEquals([path, begun.status], [path, 200]);
        await assertRejects(() => begun.text(), path);
      }
      await waitForLog(bed, "short HTTP-response-body-size 3");
      await waitForLog(bed, "long last-operation-failed HTTP-response-body-size");
      assertEquals(await (await waiting).text(), "waited");
      const failed = bed.trace().filter(({ event }) => event === "request").map(({ failed }) => failed);
      for (const kind of ["trap", "exit", "no_response", "memory"]) assert(failed.includes(kind), kind);
      assertEquals(bed.trace().some(({ event }) => event === "cell_lost"), false);
    }),
);

forExecutable(
  "serve-http: a body leaves as its guest wrote it, whatever encoding the client takes",
  (bed) =>
    withService(bed, ["--cells", "1"], async ({ port }) => {
      const ask = async (query: string, accept: string) => {
        const head = `GET /text?${query} HTTP/1.1\r\nHost: a.example\r\n${accept}Connection: close\r\n\r\n`;
        const answer = await sendRaw(port, head);
        const encoding = /^content-encoding: (.*?)\r$/im.exec(answer)?.[1];
        return [encoding, /^etag: (.*?)\r$/im.exec(answer)?.[1], answer.match(/a{2000}/)?.length];
      };
      const takesAll = "Accept-Encoding: gzip, br\r\n";
      assertEquals(await ask("etag=1&content-length=2000", takesAll), ["identity", "1", 1]);
      assertEquals(await ask("", takesAll), ["identity", undefined, 1]);
      assertEquals(await ask("content-encoding=own", takesAll), ["own", undefined, 1]);
      assertEquals(await ask("etag=1", ""), [undefined, "1", 1]);
    }),
);

forExecutable(
  "serve-http: a guest that never lets go is ended at its deadline with its cell, which is replaced",
  (bed) =>
    withService(bed, ["--cells", "1", "--deadline", "1s"], async (service, get) => {
      const isWait = ({ event, path }: TraceEvent) => event === "request" && path === "/wait";
      let tries = 0;
      const isGivenUpAlone = async () => {
        assertEquals(await askUntilServed(() => get("/count")), "1");
        const waiter = await get("/wait?600000");
        assertEquals([waiter.status, await waiter.text()], [504, "Gateway Timeout\n"]);
        await waitForEvents(bed, isWait, ++tries);
        return bed.trace().filter(isWait).at(-1)?.failed === "cancelled"; // by its guest, else by the loss of its cell
      };
      // A cell that the machine gives no time to hear that a call is over looks like one that does not let go.
      while (!await isGivenUpAlone()) assert(tries < 5, "one that waits is given up alone");
      const [first] = service.cells();
      const late = await get("/loop");
      assertEquals([late.status, await late.text()], [504, "Gateway Timeout\n"]);
      await waitForEvents(bed, ({ event }) => event === "cell_lost", tries);
      assertEquals(await askUntilServed(() => get("/count")), "1");
      const [second, ...more] = service.cells();
      assertEquals([second === first, more], [false, []]);
    }),
);

forExecutable(
  "serve-http: a lost cell costs what may not be asked twice; a GET is asked once more",
  (bed) =>
    withService(bed, ["--cells", "1"], async (service, get) => {
      const answers = [get("/wait?1500-get"), get("/wait?1500-post", { method: "POST" })];
      await Promise.all([waitForLog(bed, "1500-get"), waitForLog(bed, "1500-post")]);
      for (const pid of service.cells()) Deno.kill(pid, "SIGKILL");
      const [got, posted] = await Promise.all(answers);
      assertEquals([got!.status, await got!.text()], [200, "waited"]);
      assertEquals([posted!.status, await posted!.text()], [502, "Bad Gateway\n"]);
    }),
);

forExecutable(
  "serve-http: who comes when too many wait is told to come again",
  (bed) =>
    withService(bed, ["--cells", "1", "--concurrency", "1", "--queue", "2"], async (_, get) => {
      const abort = new AbortController();
      // One works, two wait; which ones is the network's choice.
      let refused = 0;
      const enough = Promise.withResolvers<void>();
      const six = Array.from({ length: 6 }, async () => {
        const response = await get("/wait?600000", { signal: abort.signal });
        assertEquals([response.status, response.headers.get("retry-after")], [503, "1"]);
        await response.text();
        if (++refused === 3) enough.resolve();
      });
      await enough.promise;
      abort.abort();
      assertEquals((await Promise.allSettled(six)).filter(({ status }) => status === "fulfilled").length, 3);
      await waitForEvents(bed, ({ event }) => event === "request", 6); // a place is free when its end is recorded
      assertEquals(await (await get("/count")).text(), "1");
    }),
);

forExecutable(
  "serve-http: a client that goes away ends its guest's work",
  (bed) =>
    withService(bed, ["--cells", "1", "--concurrency", "2"], async (_, get) => {
      for (const [path, marker] of [["/endless?left", "endless left"], ["/wait?600000-left", "600000-left"]] as const) {
        const abort = new AbortController();
        const response = get(path, { signal: abort.signal }).then((found) => found.arrayBuffer());
        response.catch(() => {});
        await waitForLog(bed, marker);
        abort.abort();
        await assertRejects(() => response);
        const found = await waitForEvent(
          bed,
          (event) => event.event === "request" && event.path === path.split("?")[0],
        );
        assertEquals(found.failed, "cancelled");
      }
      assertEquals(await (await get("/count")).text(), "1");
    }),
);

forMode(
  "binary",
  "serve-http: 64 MiB both ways, and a client that does not read, in flat memory",
  (bed) =>
    withService(bed, ["--cells", "1"], async (service, get) => {
      const pids = [service.running.child.pid, ...service.cells()];
      await (await get("/echo", { method: "POST", body: new Uint8Array(MEBIBYTE) })).arrayBuffer();
      const before = pids.map(peakMemoryBytes);
      const slow = (await get(`/bytes?${64 * MEBIBYTE}`)).body!.getReader();
      let bytes = (await slow.read()).value!.length;
      let left = 64;
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (left-- > 0) controller.enqueue(new Uint8Array(MEBIBYTE).fill(left));
          else controller.close();
        },
      });
      let echoed = 0;
      for await (const piece of (await get("/echo", { method: "POST", body })).body!) echoed += piece.length;
      assertEquals(echoed, 64 * MEBIBYTE);
      for (const [at, pid] of pids.entries()) {
        assert(peakMemoryBytes(pid) - before[at]! < 48 * MEBIBYTE, `process ${at}`);
      }
      for (let next = await slow.read(); !next.done; next = await slow.read()) {
        bytes += next.value.length;
      }
      assertEquals(bytes, 64 * MEBIBYTE);
    }),
);

forExecutable(
  "serve-http: heads that lie or are too large are refused before any guest sees them",
  (bed) =>
    withService(bed, ["--cells", "1", "--max-body", "1m"], async ({ port }, get) => {
      const statusOfRaw = async (head: string, host = "Host: a.example\r\n") => {
        const answer = await sendRaw(port, `${head}\r\n${host}Connection: close\r\n\r\n`);
        return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
      };
      assertEquals(await statusOfRaw("GET /count HTTP/1.1"), 200);
      for (const host of ["a/b", "a b", "a?b", "u@a", "a:1:2", "a\r\nHost: b"]) {
        assertEquals([host, await statusOfRaw("GET /count HTTP/1.1", `Host: ${host}\r\n`)], [host, 400]);
      }
      assertEquals(await statusOfRaw("CONNECT a:80 HTTP/1.1"), 405);
      assertEquals(await statusOfRaw(`GET /${"x".repeat(16_383)} HTTP/1.1`), 404);
      assertEquals(await statusOfRaw(`GET /${"x".repeat(16_384)} HTTP/1.1`), 414);
      assertEquals(await statusOfRaw(`GET /count HTTP/1.1\r\nX: ${"x".repeat(60_000)}`), 200);
      assertEquals(await statusOfRaw(`GET /count HTTP/1.1\r\nX: ${"x".repeat(66_000)}`), 431);
      assertEquals(await statusOfRaw("GET /count HTTP/1.1\r\n" + "X: y\r\n".repeat(120).trim()), 431);
      const both = "POST /echo HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked";
      assertEquals(await statusOfRaw(both), 400);
      assertEquals(await statusOf(get("/echo", { method: "POST", body: new Uint8Array(MEBIBYTE) })), 200);
      assertEquals(await statusOf(get("/echo", { method: "POST", body: new Uint8Array(MEBIBYTE + 1) })), 413);
      const hop =
        "GET /headers HTTP/1.1\r\nConnection: x-hop, close\r\nX-Hop: 1\r\nX-Boll-Error: 1\r\nX-End: 1\r\nHost: a.example:81\r\n\r\n";
      const seen = await sendRaw(port, hop);
      assertEquals([/x-hop/i.test(seen), /x-boll/i.test(seen), /"x-end"/.test(seen)], [false, false, true]);
      assertMatch(seen, /"authority":"a\.example:81"/);
      for (
        const [field, word] of [
          ["x=a%0d%0ab:c", "invalid-syntax"],
          ["x=a%00", "invalid-syntax"],
          ["x%0a=a", "invalid-syntax"],
          ["transfer-encoding=chunked", "forbidden"],
          ["x=a", "allowed"],
        ]
      ) {
        assertEquals([field, await (await get(`/field?${field}`)).text()], [field, word]);
      }
    }),
);

forExecutable("serve-http: a signal lets what is under way end, a second one does not", async (bed) => {
  const service = await startService(bed, ["--cells", "1"]);
  const answer = fetch(`${service.url}/wait?400-drain`).then((response) => response.text());
  await waitForLog(bed, "400-drain");
  service.running.child.kill("SIGTERM");
  assertEquals(await answer, "waited");
  assertEquals((await service.running.result()).code, 0);
  assertNothingLeft(bed);
  assertEquals(bed.trace().at(-1)?.status, "completed");

  const stuck = await startService(bed, ["--cells", "1"]);
  const cut = statusOf(fetch(`${stuck.url}/wait?600000-stuck`)).catch(() => 0);
  await waitForLog(bed, "600000-stuck");
  stuck.running.child.kill("SIGINT");
  const refused = await waitForRefusal(stuck.port);
  assert(refused, "nothing new comes in");
  stuck.running.child.kill("SIGINT");
  const { code, lastLine, stderr } = await stuck.running.result();
  assert([0, 503].includes(await cut), "it was not answered by its guest");
  assertEquals([code, /interrupted/.test(lastLine)], [130, true], stderr);
  assertNothingLeft(bed);
});

/** Waits until a port takes no connection any more. */
async function waitForRefusal(port: number): Promise<boolean> {
  for (;;) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      await new Promise((resolve) => setTimeout(resolve, 20));
    } catch {
      return true;
    }
  }
}

forMode("binary", "serve-http: no cell outlives a boll that was killed, however busy", async (bed) => {
  const { running, url } = await startService(bed, ["--cells", "2"]);
  const cut = assertRejects(() => fetch(`${url}/loop?killed`));
  await waitForLog(bed, "looping killed");
  assertEquals(cellsOf(bed, running.child.pid).length, 2);
  running.child.kill("SIGKILL");
  await cut;
  await running.result().catch(() => {});
  await waitForNoProcess(bed);
});

forExecutable(
  "serve-http and run: each refuses what the other one takes, and says so; a taken port is named",
  async (bed) => {
    const service = await fixture("served_probe");
    const run = await bed.run(["run", service]);
    assertEquals([run.code, /use boll serve-http/.test(run.lastLine)], [2, true], run.stderr);
    const serve = await bed.run(["serve-http", await fixture("ok"), "--listen", "0"]);
    assertEquals([serve.code, /it is a command: use boll run/.test(serve.lastLine)], [2, true], serve.stderr);
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const busy = await bed.run(["serve-http", service, "--listen", String(taken.addr.port)]);
    assertEquals([busy.code, /Listen on 127\.0\.0\.1 port/.test(busy.lastLine)], [1, true], busy.stderr);
    for (const flags of [["--cells", "0"], ["--concurrency", "x"], ["--listen", "a b"], ["--max-body", "-1"]]) {
      assertEquals([flags, (await bed.run(["serve-http", service, ...flags])).code], [flags, 2]);
    }
    assertNothingLeft(bed);
  },
);

forMode("binary", "serve-http: the sample capsule greets, echoes and says what it was asked", async (bed) => {
  const service = await startService(bed, ["--accept"], `${REPOSITORY}/capsules/hello-http`);
  assertEquals(await (await fetch(`${service.url}/?Ada`)).text(), "Hello, Ada!\n");
  assertEquals(await (await fetch(`${service.url}/echo`, { method: "POST", body: "echo" })).text(), "echo");
  assertMatch(await (await fetch(`${service.url}/headers`)).text(), /^GET \/headers\nauthority: 127/);
  assertEquals(await statusOf(fetch(`${service.url}/other`)), 404);
  assertEquals(await stopService(service), 0);
  assertNothingLeft(bed);
});
