import { fromFileUrl } from "@std/path";

/** How to start this program once more. */
export interface SelfCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** What the runtime itself needs in its environment, beside what every child gets. */
  readonly env: Readonly<Record<string, string>>;
}

/** Names the session and the delegation that a session came from. */
export const SPAWNER = "BOLL_SPAWNER";

const CHILD_PATH = "/usr/local/bin:/usr/bin:/bin";

/** Whether this process is the compiled executable, and not `deno run`. */
export const isCompiled: boolean = Deno.build.standalone;

/**
 * This same program as a child. The executable takes nothing; `deno run` takes its permission flags (the executable's
 * are fixed when it is built) and its cache.
 */
export function selfCommand(permissionFlags: readonly string[]): SelfCommand {
  if (isCompiled) return { program: Deno.execPath(), args: [], env: {} };
  const root = new URL("../../", import.meta.url);
  const denoDir = Deno.env.get("DENO_DIR") ?? defaultDenoDir();
  return {
    program: Deno.execPath(),
    args: [
      "run",
      "--cached-only",
      "--no-prompt",
      "--quiet",
      `--config=${fromFileUrl(new URL("deno.json", root))}`,
      ...permissionFlags,
      fromFileUrl(new URL("main.ts", root)),
    ],
    env: { ...(denoDir === undefined ? {} : { DENO_DIR: denoDir }), DENO_NO_UPDATE_CHECK: "1" },
  };
}

/** The program's own files and the variables its children read: what `deno run` must be told to allow. */
export function sourceFlags(): { readonly sources: readonly string[]; readonly env: readonly string[] } {
  return {
    sources: [fromFileUrl(new URL("../../", import.meta.url))],
    env: ["BOLL_CHILD", "BOLL_PARENT_PID", "TMPDIR"],
  };
}

/** The exact environment of a cell (docs/walls.md, "Environment"): no granted name is ever in it. */
export function cellEnvironment(tmp: string, own: SelfCommand): Record<string, string> {
  return childEnvironment("cell", tmp, own);
}

/** The exact environment of a session; `spawner` is the handle of whoever delegated to it, and stands last. */
export function sessionEnvironment(tmp: string, own: SelfCommand, spawner?: string): Record<string, string> {
  return { ...childEnvironment("session", tmp, own), ...(spawner === undefined ? {} : { [SPAWNER]: spawner }) };
}

function childEnvironment(role: "cell" | "session", tmp: string, own: SelfCommand): Record<string, string> {
  return {
    PATH: CHILD_PATH,
    HOME: tmp,
    TMPDIR: tmp,
    BOLL_CHILD: role,
    BOLL_PARENT_PID: String(Deno.pid),
    ...own.env,
  };
}

/** Where Deno keeps its cache when no variable says so. */
function defaultDenoDir(): string | undefined {
  const cache = Deno.env.get("XDG_CACHE_HOME");
  if (cache) return `${cache}/deno`;
  const home = Deno.env.get("HOME");
  if (!home) return undefined;
  return Deno.build.os === "darwin" ? `${home}/Library/Caches/deno` : `${home}/.cache/deno`;
}
