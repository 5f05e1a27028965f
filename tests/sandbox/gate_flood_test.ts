import { assert, assertEquals } from "@std/assert";
import { Bed, fixture, RunningBoll } from "../harness.ts";
import { peakMemoryBytes } from "../processes.ts";
import { buildVariant, startBundler } from "./variant/build.ts";

await startBundler();

let bed: Bed;
let variant: string;

Deno.test.beforeAll(async () => {
  variant = await buildVariant();
  bed = new Bed("binary");
});
Deno.test.afterAll(async () => await bed?.[Symbol.asyncDispose]());

const ZEROES_BYTES = 64 * 2 ** 20;
const ROOM_BYTES = 96 * 2 ** 20;

/** A server whose every answer is 64 MiB, or a word. */
function serve(): { port: number } & AsyncDisposable {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, onError: () => new Response() },
    (to) => {
      if (!to.url.endsWith("/zeroes")) return new Response("word");
      let left = ZEROES_BYTES;
      return new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(new Uint8Array(65_536));
            if ((left -= 65_536) <= 0) controller.close();
          },
        }),
      );
    },
  );
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** Runs code in a guest's thread behind all walls; it stands still at each `await pause()`, when memory is measured. */
async function runInjected(port: number, pauses: number, source: string) {
  const injected = `//injected
    const { gate_port, credential } = load.network;
    const pause = async () => {
      Deno.stdout.writeSync(new TextEncoder().encode("paused\\n"));
      await Deno.stdin.read(new Uint8Array(1));
    };
    const open = () => Deno.connect({ hostname: "127.0.0.1", port: gate_port });
    const ask = async (path) => {
      const wire = await open();
      await wire.write(new TextEncoder().encode("GET http://127.0.0.1:${port}" + path + " HTTP/1.1\\r\\nHost: 127.0.0.1:${port}\\r\\n" +
        "Proxy-Authorization: Basic " + btoa(credential) + "\\r\\n\\r\\n"));
      return wire;
    };
    const readAll = async (wire) => {
      const buffer = new Uint8Array(65536);
      let bytes = 0;
      let first = "";
      for (let count = await wire.read(buffer); count !== null; count = await wire.read(buffer)) {
        if (bytes === 0) first = new TextDecoder().decode(buffer.subarray(0, 12));
        bytes += count;
      }
      wire.close();
      return [first, bytes];
    };
    ${source}`;
  const args = ["run", await fixture("http_probe"), "--net", `http://127.0.0.1:${port}`, "--quiet", "--", injected];
  const child = new Deno.Command(variant, {
    args,
    cwd: bed.root,
    clearEnv: true,
    env: bed.environment(),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const running = new RunningBoll(child, { stdin: { open: true } });
  const peaks: number[] = [];
  for (let at = 1; at <= pauses; at++) {
    await running.stdout.waitFor("paused\n".repeat(at));
    peaks.push(peakMemoryBytes(child.pid));
    await running.write("g");
  }
  const result = await running.result();
  return {
    peaks,
    code: result.code,
    value: JSON.parse(result.stdout.split("\n").at(-2) ?? "null"),
    stderr: result.stderr,
  };
}

Deno.test("gate: a flood of 1000 connections by code in the guest's thread leaves the parent small, and the run goes on and ends [binary]", async () => {
  await using server = serve();
  const { peaks: [before = 0, after = 0], code, value, stderr } = await runInjected(
    server.port,
    2,
    `await pause();
    let opened = 0;
    let held = [];
    while (opened < 1000) {
      try {
        held.push(await open());
        opened++;
      } catch {
        for (const wire of held.splice(0)) wire.close();
      }
      if (held.length >= 200) for (const wire of held.splice(0)) wire.close();
    }
    await pause();
    const full = Array.from({ length: 130 }, open);
    for (const wire of [...held, ...await Promise.all(full)]) wire.close();
    let answer;
    do answer = await readAll(await ask("/word")).catch(() => ["reset"]); while (answer[0] !== "HTTP/1.1 200");
    for (let at = 0; at < 200; at++) await open();
    return [opened, answer[0]];`,
  );
  assertEquals([value, code], [[1000, "HTTP/1.1 200"], 0], stderr);
  assert(after - before < ROOM_BYTES, `the parent grew by ${after - before} bytes`);
  assertEquals(bed.trace().at(-1)?.event, "session_end");
});

Deno.test("gate: answers that nobody reads wait outside: the parent stays small, one that is read comes whole, and the run ends [binary]", async () => {
  await using server = serve();
  const { peaks: [before = 0, after = 0], code, value, stderr } = await runInjected(
    server.port,
    2,
    `await pause();
    const unread = [];
    for (let at = 0; at < 100; at++) unread.push(await ask("/zeroes"));
    for (const wire of unread) await wire.read(new Uint8Array(12));
    const [first, bytes] = await readAll(await ask("/zeroes"));
    await pause();
    return [unread.length, first, bytes > ${ZEROES_BYTES}];`,
  );
  assertEquals([value, code], [[100, "HTTP/1.1 200", true], 0], stderr);
  assert(after - before < ROOM_BYTES, `the parent grew by ${after - before} bytes`);
});
