import { dirname, join, resolve } from "@std/path";
import { digestBytes } from "./digest.ts";
import type { Workspace } from "./manifest.ts";
import { parseProxy } from "./net_entry.ts";
import { readText } from "./regular_file.ts";

/** The name of every workspace file. */
export const WORKSPACE_NAME = "boll.jsonc";

/** Which capsules are own when a `boll.jsonc` does not say. */
export const DEFAULT_CAPSULE_GLOBS: readonly string[] = ["capsules/*"];

const MAX_BYTES = 1024 * 1024;

/**
 * Reads one `boll.jsonc`. Whether it counts as the operator's word is the trust's to say.
 * @throws {CapsuleError} `workspace.invalid`
 */
export async function readWorkspace(path: string): Promise<Workspace> {
  const { text, bytes } = readText(path, { code: "workspace.invalid", maxBytes: MAX_BYTES });
  const real = Deno.realPathSync(path);
  const { parseWorkspace } = await import("./parse_manifest.ts");
  const { value, positions } = parseWorkspace(text, path);
  return {
    path: real,
    root: dirname(real),
    capsules: value.capsules ?? DEFAULT_CAPSULE_GLOBS,
    ...(value.ceiling === undefined ? {} : { ceiling: value.ceiling }),
    ...(value.secrets === undefined ? {} : { secrets: value.secrets }),
    ...(value.proxy === undefined ? {} : { proxy: parseProxy(value.proxy) }),
    ...(value.ca === undefined ? {} : { ca: resolve(dirname(real), value.ca) }),
    digest: digestBytes(bytes),
    positions,
  };
}

/**
 * Every `boll.jsonc` in `startDir` and above, nearest first. A nearer one adds a ceiling and never hides a farther one.
 * @throws {CapsuleError} `workspace.invalid` when any of them is: a ceiling that cannot be read is not skipped.
 */
export async function findWorkspaces(startDir: string): Promise<readonly Workspace[]> {
  const found: Workspace[] = [];
  for (let folder = Deno.realPathSync(startDir);; folder = dirname(folder)) {
    const path = join(folder, WORKSPACE_NAME);
    if (exists(path)) found.push(await readWorkspace(path));
    if (folder === dirname(folder)) return found;
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
