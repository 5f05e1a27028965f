import { assert, assertEquals, assertRejects } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { CapsuleError } from "../base/mod.ts";
import { type CellLaunch, type CellProcess, MAX_QUEUED_BYTES, spawnForegroundCell, spawnServingCell } from "./mod.ts";

const FIXTURE = fromFileUrl(new URL("./testdata/misbehaving_cell.ts", import.meta.url));
const CONFIG = fromFileUrl(new URL("../../deno.json", import.meta.url));

function launch(mode: string, tmp: string): CellLaunch {
  const home = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
  return {
    program: Deno.execPath(),
    args: ["run", "-A", "--cached-only", "--quiet", `--config=${CONFIG}`, FIXTURE, mode],
    env: { TMPDIR: tmp, DENO_DIR: home, DENO_NO_UPDATE_CHECK: "1", BOLL_CHILD: "cell" },
    tmp,
  };
}

async function withTmp(fn: (tmp: string) => Promise<void>): Promise<void> {
  const tmp = Deno.makeTempDirSync({ prefix: "boll" });
  try {
    await fn(tmp);
  } finally {
    Deno.removeSync(tmp, { recursive: true });
  }
}

async function messagesOf(cell: CellProcess): Promise<Record<string, unknown>[]> {
  return await Array.fromAsync(cell.receive());
}

Deno.test("spawnServingCell: the environment is exactly what was given", () =>
  withTmp(async (tmp) => {
    const wanted = launch("environment", tmp);
    await using cell = await spawnServingCell(wanted);
    const [message] = await messagesOf(cell);
    assertEquals(message!["value"], { ...wanted.env });
  }));

Deno.test("CellProcess: every frame before the exit is heard, and the exit is its own", () =>
  withTmp(async (tmp) => {
    await using cell = await spawnServingCell(launch("last_word", tmp));
    const messages = await messagesOf(cell);
    assertEquals(messages.map(({ i }) => i), Array.from({ length: 500 }, (_, i) => i));
    assertEquals(await cell.exit, { code: 0, signal: null });
  }));

Deno.test("CellProcess: messages go down and up whole", () =>
  withTmp(async (tmp) => {
    await using cell = await spawnServingCell(launch("echo", tmp));
    const big = { type: "big", text: "é".repeat(300_000) };
    const sent = [cell.send({ type: "a" }), cell.send(big), cell.send({ type: "z" })];
    const heard = [];
    for await (const message of cell.receive()) {
      heard.push(message);
      if (heard.length === 3) break;
    }
    await Promise.all(sent);
    assertEquals(heard, [{ type: "a" }, big, { type: "z" }]);
  }));

Deno.test("CellProcess: an exit code and a signal are told apart", () =>
  withTmp(async (tmp) => {
    await using exited = await spawnServingCell(launch("exit", tmp));
    assertEquals(await messagesOf(exited), []);
    assertEquals(await exited.exit, { code: 7, signal: null });
    await using killed = await spawnServingCell(launch("killed", tmp));
    assertEquals(await messagesOf(killed), []);
    assertEquals((await killed.exit).signal, "SIGKILL");
  }));

Deno.test("CellProcess: a torn frame and stray output are faults, after the whole frames before them", () =>
  withTmp(async (tmp) => {
    await using torn = await spawnServingCell(launch("torn", tmp));
    const heard: unknown[] = [];
    const error = await assertRejects(async () => {
      for await (const message of torn.receive()) heard.push(message);
    }, CapsuleError);
    assertEquals([heard, error.code], [[{ type: "whole" }], "protocol.truncated"]);
    await using garbage = await spawnServingCell(launch("garbage", tmp));
    assertEquals((await assertRejects(() => messagesOf(garbage), CapsuleError)).code, "protocol.frame_too_large");
  }));

Deno.test("CellProcess: a flood on stderr costs a bounded tail, and its last words are kept", () =>
  withTmp(async (tmp) => {
    await using cell = await spawnServingCell(launch("flood", tmp));
    assertEquals(await messagesOf(cell), [{ type: "flooded" }]);
    await cell.exit;
    await cell[Symbol.asyncDispose]();
    assert(cell.stderrTail().endsWith("last words"));
    assert(cell.stderrTail().length <= 16 * 1024);
  }));

Deno.test("CellProcess: disposing ends a cell that never would, and sending to the dead is no error", () =>
  withTmp(async (tmp) => {
    const cell = await spawnServingCell(launch("garbage", tmp));
    await cell[Symbol.asyncDispose]();
    assertEquals((await cell.exit).signal, "SIGKILL");
    await cell.send({ type: "ping", seq: 1 });
    cell.kill();
  }));

Deno.test("CellProcess: a cell that never reads is killed before what waits for it fills memory, and that is its fault", () =>
  withTmp(async (tmp) => {
    await using cell = await spawnServingCell(launch("deaf", tmp));
    const heard = messagesOf(cell);
    const message = { type: "chunk", data: "x".repeat(1024 * 1024) };
    for (let sent = 0; sent < MAX_QUEUED_BYTES + 2 * 1024 * 1024; sent += 1024 * 1024) cell.send(message);
    const error = await assertRejects(() => heard, CapsuleError, "does not read");
    assertEquals([error.code, (await cell.exit).signal], ["protocol.unexpected", "SIGKILL"]);
  }));

Deno.test("spawnForegroundCell: only who presents the nonce is heard", () =>
  withTmp(async (tmp) => {
    await using cell = await spawnForegroundCell(launch("impostor", tmp));
    for await (const message of cell.receive()) {
      assertEquals(message, { type: "true_cell" });
      break;
    }
  }));

Deno.test("spawnForegroundCell: a cell that ends before it connects is named, with how it ended", () =>
  withTmp(async (tmp) => {
    const error = await assertRejects(() => spawnForegroundCell(launch("exit", tmp)), CapsuleError);
    assertEquals([error.code, /code 7/.test(error.message)], ["cell.start_failed", true]);
  }));
