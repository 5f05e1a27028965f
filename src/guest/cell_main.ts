/**
 * Entry of a cell: a process in which guests run, and nothing else. Frames in, component calls, frames out. It raises
 * its own walls from the first frame before any guest code exists, and fails closed: what it cannot raise ends it.
 * @module
 */
import { asHostFailure, CapsuleError, errorCodeOf } from "../base/mod.ts";
import { ProcessHull } from "../hull/mod.ts";
import type { BuildLoad, ServeLoad, ToCell, ToolsLoad } from "../protocol/mod.ts";
import { CellChannel } from "./channel.ts";
import { serveRun } from "./serve_run.ts";

/** Runs this process as a cell. Never returns: the process ends with the guest, or with its parent. */
export async function runCell(): Promise<never> {
  try {
    await serve();
  } catch (error) {
    // Nobody is connected yet: the parent sees the exit, and this is for a person who looks.
    console.error(`boll: cell: ${error instanceof Error ? error.message : String(error)}`);
    Deno.exit(1);
  }
  Deno.exit(0);
}

async function serve(): Promise<void> {
  const tmp = Deno.env.get("TMPDIR") ?? "";
  const parentPid = Number(Deno.env.get("BOLL_PARENT_PID"));
  // Under `deno run` threads made while loading modules would stay outside any hull: none is raised (docs/walls.md).
  const hull = Deno.build.standalone && Deno.build.os === "linux" ? ProcessHull.open() : undefined;
  hull?.dieWithParent(parentPid);
  const channel = await CellChannel.open(tmp);
  try {
    const messages = channel.receive();
    const first = await messages.next();
    if (first.done || first.value.type !== "load") {
      throw new CapsuleError("protocol.unexpected", `Start a cell: the first message is not load`);
    }
    const load = first.value;
    if (load.kind === "run") await serveRun(load, channel, messages, hull);
    else if (load.kind === "serve") await serveRequests(load, channel, messages, hull);
    else if (load.kind === "tools") await serveCalls(load, channel, messages, hull);
    else await serveBuild(load, channel, hull);
  } catch (error) {
    await channel.send(describeFailure(error));
    Deno.exit(1);
  }
}

/** Loaded only by a serving cell, so that a run does not read it. */
async function serveRequests(
  load: ServeLoad,
  channel: CellChannel,
  messages: AsyncGenerator<ToCell>,
  hull: ProcessHull | undefined,
): Promise<void> {
  const { serveHttp } = await import("./serve_http.ts");
  await serveHttp(load, channel, messages, hull);
}

/** So is this, by a cell of tools. */
async function serveCalls(
  load: ToolsLoad,
  channel: CellChannel,
  messages: AsyncGenerator<ToCell>,
  hull: ProcessHull | undefined,
): Promise<void> {
  const { serveTools } = await import("./serve_tools.ts");
  await serveTools(load, channel, messages, hull);
}

/** The code that parses foreign bytes is heavy and needed once per component, so that only a build cell loads it. */
async function serveBuild(load: BuildLoad, channel: CellChannel, hull: ProcessHull | undefined): Promise<void> {
  const { buildInCell } = await import("./build_main.ts");
  await buildInCell(load, channel, load.hull ? hull : undefined);
}

function describeFailure(thrown: unknown): { type: "failed"; code: string; message: string } {
  const error = asHostFailure(thrown);
  const code = errorCodeOf(error) ?? "internal";
  const message = error instanceof Error ? error.message : String(error);
  return { type: "failed", code, message: message.slice(0, 60_000) };
}
