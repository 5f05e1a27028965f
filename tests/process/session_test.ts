import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Bed, fixture, forExecutable, forMode } from "../harness.ts";
import { childrenOf, environmentOf, groupOf, statusField } from "../processes.ts";
import { assertNothingLeft } from "./leftovers.ts";
import {
  prepareCapsule,
  readAnswer,
  readTrace,
  type SessionOptions,
  type SessionResult,
  type Started,
  startPrepared,
  startProbeSession,
  startSession,
  stderrLog,
} from "./running_session.ts";

/** What is said at the end: exit code, status, cause, whether only part of the answer is there, and the answer. */
type Ending = readonly [code: number, status: string, endedBy: string, partial: boolean, answer: unknown];

/** The ending of a session, after checking that its frames, its exit and its records say the same, once. */
async function endingOf({ session, prepared }: Started): Promise<Ending> {
  const result = await session.result();
  assertEquals(lastWords(result), wasReady(result) ? ["event", "usage", "result"] : ["result"], result.stderr);
  const { status, partial, result: answer } = result.outcome as { status: string; partial: boolean; result: unknown };
  const end = readTrace(prepared).filter(({ event }) => event === "session_end");
  assertEquals(end.map(({ status, exit_code }) => [status, exit_code]), [[status, result.code]]);
  const summary = JSON.parse(Deno.readTextFileSync(prepared.places.summary));
  assertEquals([summary.status, summary.exit_code, summary.ended_by], [status, result.code, end[0]!["ended_by"]]);
  return [result.code, status, String(end[0]!["ended_by"]), partial, answer];
}

function wasReady({ frames }: SessionResult): boolean {
  return frames.some(({ type }) => type === "ready");
}

/** The types of the last three frames; of what was never ready, of all but its first, which says that it is up. */
function lastWords(result: SessionResult): string[] {
  return (wasReady(result) ? result.frames.slice(-3) : result.frames.slice(1)).map(({ type }) => type);
}

async function runToEnd(bed: Bed, guest: string, options: SessionOptions = {}): Promise<Ending> {
  await using started = await startSession(bed, guest, options);
  return await endingOf(started);
}

forExecutable(
  "session: a command reads its instruction, its answer is in the frame and in the records, and all says so once",
  async (bed) => {
    {
      await using started = await startSession(bed, "cat", { task: { instruction: "what is asked" } });
      const { session, prepared } = started;
      const result = await session.result();
      assertEquals(result.frames.map(({ type, event }) => event ?? type), [
        "child.up",
        "ready",
        "session.ended",
        "usage",
        "result",
      ]);
      const outcome = {
        status: "completed",
        partial: false,
        result: "what is asked",
        scheduled: [],
        subscriptions: [],
      };
      assertEquals([result.code, result.outcome], [0, outcome]);
      assertEquals(readAnswer(prepared), "what is asked");
      const trace = readTrace(prepared);
      assertEquals(trace.map(({ event }) => event), ["session_start", "walls", "session_end"]);
      assertEquals([trace[0]!["args_count"], trace[0]!["spawned_by"]], [0, undefined]);
      const plan = JSON.parse(Deno.readTextFileSync(prepared.places.plan));
      assertEquals([plan.session_id, plan.session.role, plan.grants.limits.output_bytes], [
        prepared.places.id,
        "command",
        10 * 2 ** 20,
      ]);
      for (const line of result.stderr.trimEnd().split("\n").map((text) => JSON.parse(text))) {
        assertEquals([line.run_id, line.agent_id, line.agent_path], ["run-1", "agent-1", "0.1"]);
      }
    }
    const shown = await bed.run(["sessions"]);
    assertStringIncludes(shown.stdout, "completed");
    assertNothingLeft(bed);
  },
);

forExecutable(
  "session: a long answer is cut for the frame between two characters, and whole in the records",
  async (bed) => {
    const instruction = "é".repeat(400_000);
    await using started = await startSession(bed, "cat", { task: { instruction } });
    const [code, status, , partial, answer] = await endingOf(started);
    assertEquals([code, status, partial], [0, "completed", false]);
    assertEquals(answer, `${"é".repeat(4_000)} … [truncated]`);
    assertEquals(readAnswer(started.prepared), instruction);
  },
);

forExecutable(
  "session: each ending of a guest has its name: its own code, a trap, and memory",
  async (bed) => {
    assertEquals(await runToEnd(bed, "exit3"), [3, "failed", "guest", false, ""]);
    assertEquals(await runToEnd(bed, "trap"), [1, "failed", "trap", true, ""]);
    assertEquals((await runToEnd(bed, "grow"))[2], "memory");
  },
);

forExecutable(
  "session: a guest has its arguments, granted variables and work folder, and its stderr is logged",
  async (bed) => {
    const source = `const file = open("/workdir/made", { write: true, create: true });
    file.write(bytes("x"), 0); printError("to stderr"); return [env, args];`;
    await using started = await startSession(bed, "probe", {
      grants: { fs: { work: "rw", mounts: [] }, env: ["GRANTED"] },
      envValues: { GRANTED: "granted-value" },
      task: { args: [source, "second"] },
    });
    const [code, , , , answer] = await endingOf(started);
    assertEquals([code, JSON.parse(String(answer))], [0, [{ GRANTED: "granted-value" }, ["second"]]]);
    assertEquals(Deno.readTextFileSync(`${started.prepared.places.work}/made`), "x");
    assertEquals(Deno.readTextFileSync(stderrLog(started.prepared)), "to stderr\n");
    const records = Deno.readTextFileSync(started.prepared.places.trace) +
      Deno.readTextFileSync(started.prepared.places.plan);
    assert(!records.includes("granted-value"));
  },
);

forExecutable(
  "session: its output limit ends it by name after exactly so many bytes, kept; that many are allowed",
  async (bed) => {
    {
      await using flood = await startSession(bed, "flood", { guestLimits: { output_bytes: 100_000 } });
      const [code, status, endedBy, partial] = await endingOf(flood);
      assertEquals([code, status, endedBy, partial], [8, "failed", "output", true]);
      assertEquals(readAnswer(flood.prepared).length, 100_000);
    }
    assertEquals(await runToEnd(bed, "hello_stdio", { guestLimits: { output_bytes: 16 } }), [
      0,
      "completed",
      "guest",
      false,
      "hello from wasm\n",
    ]);
    await using unsaid = await startSession(bed, "flood");
    assertEquals((await endingOf(unsaid))[2], "output");
    assertEquals(readAnswer(unsaid.prepared).length, 10 * 2 ** 20);
  },
);

forExecutable("session: both of its deadlines end it, and what its guest had written is kept", async (bed) => {
  const source = "for (;;);";
  for (const options of [{ limits: { deadline_ms: 4_000 } }, { guestLimits: { deadline_ms: 1_000 } }]) {
    await using started = await startProbeSession(bed, source, options);
    assertEquals(await endingOf(started), [124, "deadline", "deadline", true, "up\n"]);
    assertEquals(readAnswer(started.prepared), "up\n");
  }
});

forExecutable("session: it answers pings while its guest never yields, and a cancel ends it at once", async (bed) => {
  await using started = await startProbeSession(bed, "for (;;);");
  const { session } = started;
  for (const seq of [7, 8]) await session.send({ type: "ping", seq });
  assertEquals((await session.waitFor("pong"))["seq"], 7);
  await session.send({ type: "cancel", reason: "no longer wanted" });
  assertEquals(await endingOf(started), [130, "cancelled", "interrupted", true, "up\n"]);
  assertEquals(session.frames.filter(({ type }) => type === "pong").map(({ seq }) => seq), [7, 8]);
  assertEquals(readTrace(started.prepared).at(-1)!["detail"], "no longer wanted");
});

forExecutable(
  "session: a paused guest stands still and its session answers; resumed, it goes on to its end",
  async (bed) => {
    await using started = await startProbeSession(
      bed,
      'while (!attempt(() => open("/workdir/go", { read: true })).ok); "done"',
      {
        grants: { fs: { work: "rw", mounts: [] } },
      },
    );
    const { session, prepared } = started;
    await session.send({ type: "pause" });
    await session.waitFor("loop.paused");
    const [cell] = childrenOf(session.pid);
    while (!statusField(cell!, "State").startsWith("T")) await new Promise((resolve) => setTimeout(resolve, 5));
    Deno.writeTextFileSync(`${prepared.places.work}/go`, "");
    await session.send({ type: "ping", seq: 1 });
    await session.waitFor("pong");
    assertEquals(statusField(cell!, "State")[0], "T");
    await session.send({ type: "resume" });
    await session.waitFor("loop.resumed");
    assertEquals((await endingOf(started)).slice(0, 3), [0, "completed", "guest"]);
  },
);

forExecutable(
  "session: paused before its guest was called it calls none; cancel, deadline and EOF end a paused one",
  async (bed) => {
    const ways: readonly [string, SessionOptions, (started: Started) => Promise<void>][] = [
      ["cancelled", {}, ({ session }) => session.send({ type: "cancel", reason: "" })],
      ["deadline", { guestLimits: { deadline_ms: 500 } }, () => Promise.resolve()],
      ["deadline", { limits: { deadline_ms: 4_000 } }, () => Promise.resolve()],
      ["cancelled", {}, ({ session }) => session.closeStdin()],
    ];
    for (const [status, options, end] of ways) {
      await using started = await startSession(bed, "hello_stdio", options);
      await started.session.send({ type: "pause" });
      await started.session.waitFor("ready");
      await started.session.waitFor("loop.paused");
      await end(started);
      const ending = await endingOf(started);
      assertEquals([ending[1], ending[4]], [status, ""]);
    }
    await using running = await startProbeSession(bed, "for (;;);");
    await running.session.send({ type: "pause" });
    await running.session.waitFor("loop.paused");
    await running.session.send({ type: "cancel", reason: "" });
    assertEquals((await endingOf(running)).slice(1, 3), ["cancelled", "interrupted"]);
  },
);

forExecutable(
  "session: without a supervisor, or asked by SIGTERM, it ends as cancelled and leaves no cell",
  async (bed) => {
    for (const end of ["EOF", "SIGTERM"]) {
      await using started = await startProbeSession(bed, "for (;;);");
      const [cell] = childrenOf(started.session.pid);
      if (end === "EOF") await started.session.closeStdin();
      else started.session.kill("SIGTERM");
      assertEquals((await endingOf(started)).slice(0, 3), [130, "cancelled", "interrupted"]);
      assertEquals(isThere(`/proc/${cell}`), false);
    }
    assertNothingLeft(bed);
  },
);

forExecutable(
  "session: its environment has exactly the names of the design, its spawner's handle last and in the trace",
  async (bed) => {
    const spawner = { session_id: "ses_parent", context_id: "ctx_1", delegation_id: "dlg_1" };
    await using started = await startProbeSession(bed, "readStdin(); for (;;);", {
      spawner,
      grants: { env: ["GRANTED"] },
      envValues: { GRANTED: "granted-value" },
    });
    const { session, prepared } = started;
    const environment = environmentOf(session.pid);
    const { DENO_DIR: _, DENO_NO_UPDATE_CHECK: __, HOME, TMPDIR, ...rest } = environment;
    assertEquals(rest, {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      BOLL_CHILD: "session",
      BOLL_PARENT_PID: String(Deno.pid),
      BOLL_SPAWNER: JSON.stringify(spawner),
    });
    assertEquals([HOME, Object.keys(prepared.launch.env).at(-1)], [TMPDIR, "BOLL_SPAWNER"]);
    const [cell] = childrenOf(session.pid);
    const ofCell = environmentOf(cell!);
    assertEquals([ofCell["BOLL_SPAWNER"], ofCell["BOLL_CHILD"], ofCell["BOLL_PARENT_PID"]], [
      undefined,
      "cell",
      String(session.pid),
    ]);
    assert(ofCell["TMPDIR"]!.startsWith(`${TMPDIR}/`));
    assertEquals([groupOf(session.pid), groupOf(cell!)], [session.pid, cell]);
    const start = readTrace(prepared)[0]!;
    assertEquals([start["spawned_by"], start["delegation_id"]], ["ses_parent", "dlg_1"]);
  },
);

forMode(
  "binary",
  "session: it and its cell stand behind the kernel wall, and its own limits were set first",
  async (bed) => {
    await using started = await startProbeSession(bed, "for (;;);", {
      limits: { memory_bytes: 2 ** 30, cpu_seconds: 50, nice: 10 },
    });
    const { session, prepared } = started;
    const [cell] = childrenOf(session.pid);
    assertEquals([session.pid, cell!].map((pid) => statusField(pid, "NoNewPrivs")), ["1", "1"]);
    assertEquals([session.pid, cell!].map((pid) => statusField(pid, "Seccomp")), ["0", "2"]);
    assertEquals([session.pid, cell!].map(niceOf), [10, 10]);
    const limits = Deno.readTextFileSync(`/proc/${session.pid}/limits`);
    assertEquals(/^Max cpu time +(\d+) +(\d+)/m.exec(limits)?.slice(1), ["50", "55"]);
    assertEquals(/^Max data size +(\d+)/m.exec(limits)?.[1], String(600_000_000 + 2 ** 30));
    // The cell has its own: what its guest's grants say, not the rest of its session's.
    const own = Deno.readTextFileSync(`/proc/${cell}/limits`);
    assertEquals(/^Max cpu time +(\d+)/m.exec(own)?.[1], "51");
    const walls = readTrace(prepared).find(({ event }) => event === "walls");
    assertEquals([walls?.["landlock"], walls?.["seccomp"]], [true, true]);
  },
);

forMode("binary", "session: CPU time ends it by name, its guest's and its own", async (bed) => {
  assertEquals((await runToEnd(bed, "loop", { limits: { cpu_seconds: 1 } })).slice(0, 3), [8, "failed", "cpu"]);
  await using started = await startProbeSession(bed, "monotonicClock.subscribeDuration(3e18).block()", {
    limits: { cpu_seconds: 3 },
  });
  const pings = encodePings(2_000);
  while (await started.session.sendBytes(pings));
  assertEquals((await endingOf(started)).slice(0, 3), [8, "failed", "cpu"]);
});

forExecutable(
  "session: its guest reaches the network through the session's gate, and only what is granted",
  async (bed) => {
    const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response("answered"));
    const base = `http://127.0.0.1:${server.addr.port}`;
    try {
      const source = `return [request("${base}/").text, attempt(() => request("http://127.0.0.1:1/")).err?.tag]`;
      const probe = await fixture("http_probe");
      assertEquals((await bed.run(["run", "--dry-run", "--net", base, probe])).code, 0);
      const options = { grants: { net: [base] }, task: { args: [source] } };
      await using started = await startPrepared(await prepareCapsule(bed, probe, options));
      const [code, , , , answer] = await endingOf(started);
      assertEquals([code, JSON.parse(String(answer))], [0, ["answered", "HTTP-request-denied"]]);
      const trace = readTrace(started.prepared);
      assertEquals(trace.filter(({ event }) => event === "connection").map(({ grant }) => grant), [base]);
      assertEquals(trace.filter(({ event }) => event === "denied").map(({ grant }) => grant), ["net"]);
    } finally {
      await server.shutdown();
    }
  },
);

function encodePings(count: number): Uint8Array {
  const payload = new TextEncoder().encode('{"type":"ping","seq":1}');
  const frame = [0, 0, 0, payload.length, ...payload];
  return Uint8Array.from({ length: count * frame.length }, (_, i) => frame[i % frame.length]!);
}

function niceOf(pid: number): number {
  const text = Deno.readTextFileSync(`/proc/${pid}/stat`);
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[16]);
}

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
