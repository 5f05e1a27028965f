import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { fixture, forExecutable } from "../harness.ts";
import { waitForEvent, withService } from "./running_service.ts";
import { zeroes } from "./zeroes.ts";

const MEBIBYTE = 1024 ** 2;

/** A server for the guest to ask. */
function openOrigin() {
  const [asked, gone]: [string[], string[]] = [[], []];
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  const server = Deno.serve(options, async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    asked.push(pathname);
    if (pathname === "/zeroes") return new Response(zeroes(Number(searchParams.get("n"))), { status: 203 });
    if (pathname.startsWith("/silent")) return await new Promise<Response>((done) => whenGone(request, pathname, done));
    if (pathname.startsWith("/endless")) return new Response(endless(() => gone.push(pathname)));
    return new Response(`${request.method} ${pathname}`);
  });
  const whenGone = (request: Request, path: string, done: (response: Response) => void) =>
    request.signal.addEventListener("abort", () => {
      gone.push(path);
      done(new Response());
    });
  const included = async (paths: readonly string[], path: string) => {
    while (!paths.includes(path)) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  return {
    base: `http://127.0.0.1:${server.addr.port}`,
    /** Waits until this path was asked for, and until the other side closed that request before its end. */
    reached: (path: string) => included(asked, path),
    closed: (path: string) => included(gone, path),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** One piece, and then nothing. */
function endless(onGone: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(10)), cancel: onGone });
}

forExecutable(
  "serve-http: a service passes on what a granted server says, and answers itself for one that is not",
  async (bed) => {
    await using origin = openOrigin();
    await using other = openOrigin();
    const flags = ["--cells", "1", "--net", origin.base];
    await withService(bed, flags, async (_, get) => {
      const through = (url: string) => get(`/through?${url}`);
      assertEquals(await (await through(`${origin.base}/a`)).text(), "GET /a");
      const long = await through(`${origin.base}/zeroes?n=${8 * MEBIBYTE}`);
      assertEquals([long.status, (await long.arrayBuffer()).byteLength], [203, 8 * MEBIBYTE]);
      const many = Array.from({ length: 20 }, async (_, at) => await (await through(`${origin.base}/${at}`)).text());
      assertEquals(await Promise.all(many), Array.from({ length: 20 }, (_, at) => `GET /${at}`));
      const refused = await through(`${other.base}/a`);
      assertEquals([refused.status, await refused.text()], [502, "HTTP-request-denied"]);
      const { grant, asked, allow } = await waitForEvent(bed, ({ event }) => event === "denied");
      assertEquals([grant, asked], ["net", other.base]);
      assertStringIncludes(JSON.stringify(allow), other.base);
      await waitForEvent(bed, ({ event, bytes_down }) => event === "connection" && bytes_down === 8 * MEBIBYTE);
      const connections = bed.trace().filter(({ event }) => event === "connection");
      assertEquals(
        new Set(connections.map(({ grant, outcome }) => `${grant} ${outcome}`)),
        new Set([`${origin.base} opened`]),
      );
    }, await fixture("relay_probe"));
    assertMatch(JSON.stringify(bed.trace().at(-1)), /session_end/);
  },
);

forExecutable(
  "serve-http: nothing that an instance had open outlives it, however it ends",
  async (bed) => {
    await using origin = openOrigin();
    await withService(bed, ["--cells", "1", "--deadline", "2s", "--net", origin.base], async (_, get) => {
      assertEquals(await (await get(`/leave?${origin.base}/endless-left`)).text(), "left");
      await origin.closed("/endless-left");
      const trapped = await get(`/trap?${origin.base}/endless-trapped`);
      assertEquals([trapped.status, await trapped.text()], [500, "Internal Server Error\n"]);
      await origin.closed("/endless-trapped");
      const late = await get(`/hold?${origin.base}/silent-late`);
      assertEquals([late.status, await late.text()], [504, "Gateway Timeout\n"]);
      await origin.closed("/silent-late");

      const abort = new AbortController();
      const held = get(`/hold?${origin.base}/silent-held`, { signal: abort.signal });
      await origin.reached("/silent-held");
      abort.abort();
      await assertRejects(() => held);
      await origin.closed("/silent-held");
      const body = (await get(`/through?${origin.base}/endless-passed`)).body!.getReader();
      await body.read();
      await body.cancel();
      await origin.closed("/endless-passed");
      assertEquals(await (await get(`/through?${origin.base}/next`)).text(), "GET /next");
      assertEquals(bed.trace().filter(({ event }) => event === "cell_lost"), []);
    }, await fixture("relay_probe"));
  },
);
