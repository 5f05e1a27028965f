import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { SpawnPayload } from "../../src/protocol/control/mod.ts";
import { EMPTY_TURN } from "../../src/protocol/control/payload_fixture.ts";
import { encodeFrame } from "../../src/protocol/mod.ts";
import { NO_GRANTS } from "../../src/grants/mod.ts";
import { markIfCrashed } from "../../src/records/mod.ts";
import { type Bed, forExecutable, forMode, REPOSITORY } from "../harness.ts";
import { childrenOf, waitForEnd } from "../processes.ts";
import { assertNothingLeft, waitForNoProcess } from "./leftovers.ts";
import {
  prepareCapsule,
  prepareGuest,
  readAnswer,
  readTrace,
  RunningSession,
  type SessionOptions,
  startPrepared,
  startProbeSession,
  startSession,
} from "./running_session.ts";
import { warmGuest } from "../warm_cache.ts";

const SECRET = "hunter2-in-the-clear";

/** Everything that is on disk below a folder, as one text. */
function textsBelow(folder: string): string {
  return [...Deno.readDirSync(folder)].map(({ name, isDirectory, isFile }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? textsBelow(path) : isFile ? Deno.readTextFileSync(path) : "";
  }).join("\n");
}

forExecutable(
  "session: what is no spawn ends it with 2, by its label and without a word of what was in it",
  async (bed) => {
    const prefix = (length: number) => new Uint8Array([length >>> 24, length >>> 16, length >>> 8, length]);
    const bytes = (text: string) => new TextEncoder().encode(text);
    const starts: readonly [name: string, first: Uint8Array, says: RegExp][] = [
      ["inject", encodeFrame({ type: "inject", message: SECRET }), /first message is inject, wanted spawn/],
      ["unknown", encodeFrame({ type: "odd.one", token: SECRET }), /first message is odd\.one, wanted spawn/],
      ["a spawn that lacks fields", encodeFrame({ type: "spawn", instruction: SECRET }), /message\.\w+ is not/],
      ["no JSON", new Uint8Array([...prefix(SECRET.length), ...bytes(SECRET)]), /not JSON in UTF-8, payload at byte 4/],
      ["too long", prefix(2 ** 32 - 1), /4294967295 bytes declared at byte 0/],
      ["torn", new Uint8Array([...prefix(100), ...bytes(SECRET)]), /stream ended inside a payload/],
      ["nothing", new Uint8Array(), /stdin ended before spawn/],
    ];
    const prepared = await prepareGuest(bed, "ok");
    for (const [name, first, says] of starts) {
      const session = new RunningSession({ ...prepared, [Symbol.dispose]() {} });
      try {
        await session.sendBytes(first);
        await session.closeStdin();
        const result = await session.result();
        assertEquals([name, result.code, result.frames], [name, 2, []]);
        assert(says.test(result.stderr), `${name}: ${result.stderr}`);
        assert(!result.stderr.includes(SECRET), name);
      } finally {
        await session[Symbol.asyncDispose]();
      }
    }
    assertEquals([...Deno.readDirSync(prepared.places.records)].map(({ name }) => name).sort(), [
      "lock",
      "out",
      "plan.json",
      "trace.jsonl",
    ]);
    prepared[Symbol.dispose]();
  },
);

forExecutable("session: no secret of its first frame is on stderr, in its frames or in its records", async (bed) => {
  await using started = await startSession(bed, "ok", {
    grants: { env: ["TOKEN"] },
    envValues: { TOKEN: SECRET },
    task: { instruction: SECRET },
  });
  const { session, prepared } = started;
  await session.send({ type: "swap_intel", uri: `https://${SECRET}`, token: SECRET, policy: "finish-on-old" });
  await session.send({ type: "inject", message: SECRET });
  const result = await session.result();
  assertEquals(result.code, 0);
  assert(!result.stderr.includes(SECRET));
  assert(!JSON.stringify(result.frames).includes(SECRET));
  assert(!textsBelow(prepared.places.root).includes(SECRET));
});

forExecutable(
  "session: a broken frame, and a second spawn, end it with 2, its cell gone and the ending recorded",
  async (bed) => {
    for (const fault of ["spawn", "garbage", "field"]) {
      await using started = await startProbeSession(bed, "for (;;);");
      const { session, prepared, payload } = started;
      const [cell] = childrenOf(session.pid);
      if (fault === "spawn") await session.send({ type: "spawn", ...payload });
      else if (fault === "field") await session.send({ type: "ping", seq: 2 ** 53 });
      else await session.sendBytes(new Uint8Array([0, 0, 0, 4, 1, 2, 3, 4]));
      const result = await session.result();
      assertEquals([fault, result.code, result.last?.type], [fault, 2, "ready"]);
      await waitForEnd(cell!);
      const { status, exit_code, ended_by } = readTrace(prepared).at(-1)!;
      assertEquals([status, exit_code, ended_by], ["crashed", 2, "protocol_broken"]);
      assertEquals(readAnswer(prepared), "up\n");
    }
    assertNothingLeft(bed);
  },
);

forExecutable("session: what it does not know or has not asked for is dropped, with one line a kind", async (bed) => {
  await using started = await startProbeSession(bed, "readStdin(); for (;;);");
  const { session } = started;
  for (let i = 0; i < 3; i++) {
    await session.send({ type: "telepathy", text: SECRET });
    await session.send({ type: "tool_result", id: 9, result: SECRET, is_error: false });
    await session.send({ type: "budget_grant", id: 9, ok: true, wait_ms: 0 });
    await session.send({ type: "inject", message: SECRET });
  }
  await session.send({ type: "ping", seq: 5, odd: SECRET });
  assertEquals((await session.waitFor("pong"))["seq"], 5);
  await session.send({ type: "cancel", reason: "" });
  const result = await session.result();
  assertEquals(result.outcome?.["status"], "cancelled");
  const dropped = result.stderr.split("\n").filter((line) => line.includes("Dropped a message"));
  assertEquals(dropped.length, 4);
  for (const kind of ["telepathy", "tool_result", "budget_grant", "inject"]) assertStringIncludes(result.stderr, kind);
  assert(!result.stderr.includes(SECRET));
});

/** Starts a session with a payload that was changed on its way, and gives the code of its `failed`, and its exit code. */
async function refusalOf(
  bed: Bed,
  guest: string,
  options: SessionOptions,
  change: (payload: SpawnPayload) => object = (payload) => payload,
): Promise<[failed: unknown, code: number]> {
  const prepared = await prepareGuest(bed, guest, options);
  const session = new RunningSession(prepared);
  try {
    await session.send({ type: "spawn", ...change(prepared.launch.payload) });
    const result = await session.result();
    assertEquals(result.frames.map(({ type, event }) => event ?? type), ["child.up", "failed"], result.stderr);
    const end = readTrace(prepared).at(-1)!;
    assertEquals([end["event"], end["exit_code"]], ["session_end", result.code]);
    return [result.failed, result.code];
  } finally {
    await session[Symbol.asyncDispose]();
  }
}

forExecutable(
  "session: each thing that its payload may not be is refused by its code, and nothing is started",
  async (bed) => {
    const limits = { memory_mb: NO_GRANTS.limits.memory_mb };
    const intelligence = { uri: "https://model.example", headers: [] };
    const digest = `sha256:${"0".repeat(64)}`;
    const refusals: readonly [SessionOptions, string, number, ((payload: SpawnPayload) => object)?][] = [
      [{}, "capsule.changed", 2, (payload) => ({ ...payload, capsule: { ...payload.capsule, digest } })],
      [
        {},
        "component.cache_mismatch",
        1,
        (payload) => ({ ...payload, places: { ...payload.places, cache: bed.root } }),
      ],
      [{ limits: { max_steps: 501 } }, "payload.over_ceiling", 2],
      [{ limits: { deadline_ms: 3_600_001 } }, "payload.over_ceiling", 2],
      [{ task: { depth: 5 } }, "payload.over_ceiling", 2],
      [{ limits: { memory_bytes: limits.memory_mb * 2 ** 20 - 1 } }, "payload.over_ceiling", 2],
      [{ task: { role: "agent", intelligence } }, "payload.unsupported", 2],
    ];
    for (const [options, failed, code, change] of refusals) {
      assertEquals(await refusalOf(bed, "ok", options, change), [failed, code]);
    }
    assertEquals(await refusalOf(bed, "wants_clocks", { grants: { clocks: false } }), ["grant.import_not_granted", 5]);
    if (bed.mode === "source") {
      assertEquals(await refusalOf(bed, "ok", { grants: { containment: "scoped" } }), ["grant.floor_unmet", 5]);
    }
    const atLimit = { max_steps: 500, max_tokens: 2_000_000, deadline_ms: 3_600_000, max_depth: 4 };
    await using started = await startSession(bed, "ok", {
      task: { depth: 4 },
      limits: { ...atLimit, memory_bytes: limits.memory_mb * 2 ** 20 },
    });
    assertEquals((await started.session.result()).code, 0);
  },
);

/** What a command has no use for, each as a parent might send it. */
const WITHOUT_EFFECT: Partial<SpawnPayload> = {
  output_contract: SECRET,
  output_schema: { description: SECRET },
  context_seed: [{ role: "user", content: SECRET }],
  intelligence: { uri: "https://model.example", token: SECRET, headers: [["x-key", SECRET]] },
  mcp_servers: [{ name: "files", url: `https://${SECRET}.example`, headers: [] }],
  a2a_peers: [{ name: "peer", url: "https://peer.example", token: SECRET, headers: [] }],
  gated_tools: [SECRET],
  warm: true,
  door: {
    hostname: "127.0.0.1",
    port: 0,
    open: true,
    names: [SECRET],
    accept: "queue",
    queue_depth: 1,
    idempotent: false,
    peers: [],
  },
  turn: { ...EMPTY_TURN, system: SECRET },
};

forMode("binary", "session: each field that would have no effect on a command is refused by its name", async (bed) => {
  for (const [name, value] of Object.entries(WITHOUT_EFFECT)) {
    await using refused = await startSession(bed, "ok", { task: { [name]: value } });
    const { failed, code, last, stderr } = await refused.session.result();
    assertEquals([name, failed, code], [name, "payload.unsupported", 2]);
    const { message } = last!["error"] as { message: string };
    assertEquals(message, `Start a command session: found ${name}, which a command has not`);
    assert(!`${stderr}${textsBelow(refused.prepared.places.root)}`.includes(SECRET), name);
  }
  const grant = { role: "boll/allowed-tools", content: '["delegate-task"]' } as const;
  await using granted = await startSession(bed, "ok", { task: { context_seed: [grant] } });
  assertEquals((await granted.session.result()).code, 0);
});

forExecutable("session: a capsule changed, or a build tampered with, after it was prepared is not run", async (bed) => {
  const folder = bed.folder("own");
  const path = `${folder}/ok.wasm`;
  Deno.copyFileSync(await warmGuest(bed, "ok"), path);
  {
    await using started = await startPrepared(await prepareCapsule(bed, path));
    assertEquals((await started.session.result()).code, 0);
  }
  const prepared = await prepareCapsule(bed, path);
  for (const { name } of Deno.readDirSync(`${bed.home}/cache`)) {
    for (const file of Deno.readDirSync(`${bed.home}/cache/${name}`)) {
      if (file.name === "meta.json") continue;
      const built = `${bed.home}/cache/${name}/${file.name}`;
      const bytes = Deno.readFileSync(built);
      Deno.writeFileSync(built, bytes.fill(32, 0, 1));
    }
  }
  {
    await using tampered = await startPrepared(prepared);
    const result = await tampered.session.result();
    assertEquals([result.failed, result.code], ["component.cache_mismatch", 1]);
  }
  const other = await prepareCapsule(bed, path);
  Deno.copyFileSync(await warmGuest(bed, "exit3"), path);
  await using changed = await startPrepared(other);
  const result = await changed.session.result();
  assertEquals([result.failed, result.code], ["capsule.changed", 2]);
});

forExecutable("session: a handle of its spawner that cannot be read is fatal; blank is nobody's child", async (bed) => {
  for (const [handle, code] of [["{}", 2], ["not json", 2], ["   ", 0]] as const) {
    const prepared = await prepareGuest(bed, "ok");
    const launch = { ...prepared.launch, env: { ...prepared.launch.env, BOLL_SPAWNER: handle } };
    await using started = await startPrepared({ ...prepared, launch });
    const result = await started.session.result();
    assertEquals([handle, result.code], [handle, code]);
    if (code === 2) assertStringIncludes(result.stderr, "tell its spawner that it finished");
  }
});

forExecutable("session: its cell is killed, and that is the cause; what the guest had written is kept", async (bed) => {
  await using started = await startProbeSession(bed, "for (;;);");
  const { session, prepared } = started;
  Deno.kill(childrenOf(session.pid)[0]!, "SIGKILL");
  const result = await session.result();
  assertEquals([result.code, result.outcome?.["status"], result.outcome?.["partial"]], [1, "crashed", true]);
  assertStringIncludes(String(readTrace(prepared).at(-1)!["detail"]), "SIGKILL");
  assertEquals(readAnswer(prepared), "up\n");
});

forExecutable("session: it is killed, and its cell goes with it; its record reads as crashed", async (bed) => {
  for (const source of ["for (;;);", "monotonicClock.subscribeDuration(3e18).block()"]) {
    await using started = await startProbeSession(bed, source);
    const { session, prepared } = started;
    const [cell] = childrenOf(session.pid);
    session.kill("SIGKILL");
    await waitForEnd(cell!);
    assertEquals((await session.result()).signal, "SIGKILL");
    prepared[Symbol.dispose]();
    assertEquals(markIfCrashed(prepared.places), "crashed");
  }
  await waitForNoProcess(bed);
});

Deno.test("session: whatever a library prints by console goes to stderr, as lines of its log", async () => {
  const script = `
    import { moveConsole, SessionLog } from ${
    JSON.stringify(`file://${REPOSITORY}/src/session/control/session_log.ts`)
  };
    const log = new SessionLog();
    log.identify({ run_id: "r", agent_id: "a", agent_path: "0", log_level: "debug", log_content: false });
    moveConsole(log);
    for (const name of Object.keys(console)) if (typeof console[name] === "function") console[name]("said by " + name, [{}]);
    console.table([{ a: 1 }]);`;
  const path = Deno.makeTempFileSync({ prefix: "boll-console-", suffix: ".ts" });
  try {
    Deno.writeTextFileSync(path, script);
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--no-check", `--config=${REPOSITORY}/deno.json`, path],
    }).output();
    assertEquals([code, stdout.length], [0, 0]);
    const lines = new TextDecoder().decode(stderr).trimEnd().split("\n").map((line) => JSON.parse(line));
    assert(lines.length > 20);
    for (const word of ["log", "info", "error", "table", "dir"]) {
      assert(lines.some(({ msg, agent_path }) => msg.startsWith(`said by ${word}`) && agent_path === "0"), word);
    }
  } finally {
    Deno.removeSync(path);
  }
});
