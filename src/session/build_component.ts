import { CapsuleError, type ErrorCode, EXIT_STATUS } from "../base/mod.ts";
import { adoptBuild, type CachedComponent, cacheKey, dropCached, findCached, findMismatch } from "../component/mod.ts";
import { toFlags } from "../grants/mod.ts";
import { decodeFromCell, type FromCell } from "../protocol/mod.ts";
import { type BuildTurn, makeTemporaryFolder, ownFolder, tryTakeBuildTurn } from "../records/mod.ts";
import { type CellProcess, spawnServingCell } from "../supervisor/mod.ts";
import { cellEnvironment, isCompiled, selfCommand, sourceFlags } from "./self_command.ts";

/** How long one build may take, ms: a net for a cell that waits. What it works is bounded by its processor time. */
export const BUILD_TIMEOUT_MS = 120_000;

/** How often one that waits looks whether another is done building, ms. */
const LONGEST_PAUSE_MS = 80;

/** What to build: the component's file, the digest of its bytes, the memory cap, and the cache of `$BOLL_HOME`. */
export interface BuildRequest {
  readonly cacheRoot: string;
  readonly componentPath: string;
  readonly digest: string;
  readonly memoryMb: number;
  /** Raise wall 4 in the build cell. */
  readonly hull: boolean;
  /** Ends the build when it aborts. */
  readonly interrupt?: AbortSignal;
  /** Told when a cached build did not hash to its digests; it is built anew. */
  onMismatch?(key: string, detail: string): void;
}

/**
 * The component as it lies in the cache; made in a build cell when it is not there yet, so that hostile bytes are never
 * parsed in this process.
 *
 * @throws `component.*` as the build cell says; `component.build_failed` when it dies or takes too long.
 */
export async function ensureComponent(request: BuildRequest): Promise<CachedComponent> {
  const key = cacheKey(request.digest, { memoryMb: request.memoryMb });
  const cached = findCached(request.cacheRoot, key);
  if (!cached) return await buildInto(request, key);
  const mismatch = findMismatch(cached);
  if (!mismatch) return cached;
  dropCached(cached);
  request.onMismatch?.(key, mismatch.message);
  return await buildInto(request, key);
}

async function buildInto(request: BuildRequest, key: string): Promise<CachedComponent> {
  using turn = await waitForTurn(request, key);
  const meanwhile = findCached(request.cacheRoot, key);
  if (meanwhile && !findMismatch(meanwhile)) return meanwhile;
  using tmp = makeTemporaryFolder();
  const result = await buildInCell(request, turn.folder, tmp.path);
  return adoptBuild(request.cacheRoot, { key, digest: request.digest }, turn.folder, result);
}

/** Of many runs that want the same, one builds and the others find what it built; unless it takes longer than it may. */
async function waitForTurn({ cacheRoot, interrupt }: BuildRequest, key: string): Promise<BuildTurn> {
  const until = performance.now() + BUILD_TIMEOUT_MS;
  for (let pauseMs = 5;; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    if (interrupt?.aborted) throw new CapsuleError("component.build_failed", "Build component: interrupted");
    const turn = tryTakeBuildTurn(cacheRoot, key);
    if (turn !== undefined) return turn;
    if (performance.now() > until) return ownFolder(cacheRoot);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** The cell is dead when this settles: nobody changes the folder while what it says of it is checked. */
async function buildInCell(request: BuildRequest, folder: string, tmp: string): Promise<unknown> {
  const own = selfCommand(toFlags({
    kind: "build",
    component: request.componentPath,
    staging: folder,
    tmp,
    ...sourceFlags(),
  }));
  await using cell = await spawnServingCell({
    program: own.program,
    args: own.args,
    env: cellEnvironment(tmp, own),
    tmp,
  });
  return await askForBuild(cell, request, folder, tmp);
}

async function askForBuild(cell: CellProcess, request: BuildRequest, folder: string, tmp: string): Promise<unknown> {
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    cell.kill();
  }, BUILD_TIMEOUT_MS);
  const onInterrupt = () => cell.kill();
  request.interrupt?.addEventListener("abort", onInterrupt);
  try {
    if (request.interrupt?.aborted) onInterrupt();
    await cell.send({
      type: "load",
      kind: "build",
      component: request.componentPath,
      digest: request.digest,
      folder,
      tmp,
      memory_mb: request.memoryMb,
      hull: request.hull && isCompiled,
    });
    return await lastWord(cell);
  } catch (error) {
    if (late) {
      throw new CapsuleError("component.build_failed", `Build component: not done within ${BUILD_TIMEOUT_MS} ms`);
    }
    throw error;
  } finally {
    clearTimeout(timer);
    request.interrupt?.removeEventListener("abort", onInterrupt);
  }
}

async function lastWord(cell: CellProcess): Promise<unknown> {
  for await (const frame of cell.receive()) {
    const message: FromCell | undefined = decodeFromCell(frame);
    if (message?.type === "done") return message.value;
    if (message?.type === "failed") throw new CapsuleError(knownCode(message.code), message.message);
  }
  const { code, signal } = await cell.exit;
  if (signal === "SIGXCPU") {
    throw new CapsuleError("component.build_failed", "Build component: it took more processor time than a build may");
  }
  const tail = cell.stderrTail().trim().split("\n").at(-1) ?? "";
  throw new CapsuleError(
    "component.build_failed",
    `Build component: the build cell ended with ${signal ?? `code ${code}`}${tail ? ` (${tail})` : ""}`,
  );
}

/** A build cell speaks of components, of its own hull, or of a host that is short of something; any other code it claims is a failed build. */
function knownCode(code: string): ErrorCode {
  const isKnown = Object.hasOwn(EXIT_STATUS, code) && /^(component|hull|host)\./.test(code);
  return isKnown ? code as ErrorCode : "component.build_failed";
}
