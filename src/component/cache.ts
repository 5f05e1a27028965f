import { dirname, join } from "@std/path";
import { CapsuleError, newId } from "../base/mod.ts";
import { ASYNC_EXPORTS, ASYNC_IMPORTS, HOST_ASYNC_IMPORTS, NETWORK_ASYNC_IMPORTS } from "./async_list.ts";
import { decodeBuildResult } from "./build_result.ts";
import { type BuildOptions, type BuildResult, type CachedComponent, type CoreFile, filesOf } from "./description.ts";
import { hashBytes } from "./hash.ts";

/** Names the transpiler and the rewriting done here; part of every cache key. Raise it when either changes. */
export const TOOL_VERSION = "jco-transpile-0.15.0+6";

const META = "meta.json";
const MAX_META_BYTES = 1024 * 1024;

/** The cache folder's name for a component digest (`sha256:…`) built with these options: 64 lower-case hex. */
export function cacheKey(digest: string, options: BuildOptions): string {
  const lists = [ASYNC_IMPORTS, NETWORK_ASYNC_IMPORTS, HOST_ASYNC_IMPORTS, ASYNC_EXPORTS];
  return hashBytes(JSON.stringify([digest, TOOL_VERSION, Deno.version.v8, options.memoryMb, ...lists]));
}

/**
 * The cached build under `key`, or undefined when there is none, or what lies there is not whole. Reads the
 * description and the sizes only; {@link loadCached} hashes every byte.
 */
export function findCached(cacheRoot: string, key: string): CachedComponent | undefined {
  const dir = placeOf(cacheRoot, key);
  try {
    const info = Deno.lstatSync(`${dir}/${META}`);
    if (!info.isFile || info.size > MAX_META_BYTES) return undefined;
    const meta = JSON.parse(Deno.readTextFileSync(`${dir}/${META}`));
    if (meta.key !== key || meta.tool !== TOOL_VERSION) return undefined;
    const result = decodeBuildResult(meta);
    for (const { name, bytes } of filesOf(result)) {
      const file = Deno.lstatSync(`${dir}/${name}`);
      if (!file.isFile || file.size !== bytes) return undefined;
    }
    return { key, dir, ...result };
  } catch {
    return undefined;
  }
}

/**
 * Takes a build out of `stagingDir` into the cache and returns it. `result` is what the build cell said and the
 * folder what it wrote: both are decoded and checked, and only bytes that were hashed here are kept. What it built must
 * be what was asked for: its file may have been replaced since it was digested. The cell must be dead. The folder
 * appears whole, by one rename from beside `stagingDir`: who removes what a dead builder left finds all of it there. When
 * another process was first, its build is returned. The caller removes `stagingDir`.
 * @throws component.build_failed
 */
export function adoptBuild(
  cacheRoot: string,
  id: { readonly key: string; readonly digest: string },
  stagingDir: string,
  result: unknown,
): CachedComponent {
  const target = placeOf(cacheRoot, id.key);
  const build = decodeBuildResult(result);
  if (build.digest !== id.digest) {
    throw new CapsuleError(
      "component.build_failed",
      `Adopt build: the component changed while it was read: found ${build.digest}, wanted ${id.digest}; try again`,
    );
  }
  const fresh = join(dirname(stagingDir), `.${newId("req")}.tmp`);
  try {
    Deno.mkdirSync(cacheRoot, { mode: 0o700, recursive: true });
    Deno.mkdirSync(fresh, { mode: 0o700 });
    for (const file of filesOf(build)) copyChecked(stagingDir, fresh, file);
    Deno.writeTextFileSync(`${fresh}/${META}`, encodeMeta(id.key, build), { mode: 0o600, createNew: true });
    return putInPlace(fresh, target, () => findCached(cacheRoot, id.key));
  } finally {
    removeTree(fresh);
  }
}

/** Removes a cached build whose content did not match, so that the next run builds it anew. Quiet when it is gone. */
export function dropCached(cached: Pick<CachedComponent, "dir">): void {
  removeTree(cached.dir);
}

function encodeMeta(key: string, build: BuildResult): string {
  return JSON.stringify({ key, tool: TOOL_VERSION, ...build });
}

/** Reads a plain file of the build, compares size and hash, and writes those very bytes. */
function copyChecked(from: string, to: string, file: CoreFile): void {
  const path = `${from}/${file.name}`;
  const bytes = readPlain(path, file.bytes);
  if (bytes === undefined || hashBytes(bytes) !== file.sha256) {
    throw new CapsuleError(
      "component.build_failed",
      `Adopt build: ${file.name} is not the plain file that was announced`,
    );
  }
  Deno.writeFileSync(`${to}/${file.name}`, bytes, { mode: 0o600, createNew: true });
}

function readPlain(path: string, wantedBytes: number): Uint8Array | undefined {
  try {
    const info = Deno.lstatSync(path);
    return info.isFile && info.size === wantedBytes ? Deno.readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}

/** Renames `fresh` to `target`. What stands there is kept when it is a whole build, else moved away first. */
function putInPlace(fresh: string, target: string, find: () => CachedComponent | undefined): CachedComponent {
  let cause: unknown;
  for (let turn = 0; turn < 8; turn++) {
    try {
      Deno.renameSync(fresh, target);
    } catch (error) {
      cause = error;
    }
    const found = find();
    if (found !== undefined) return found;
    const junk = `${fresh}.junk`;
    try {
      Deno.renameSync(target, junk);
    } catch { /* another process moved it away */ }
    removeTree(junk);
  }
  throw new CapsuleError("component.build_failed", `Adopt build: cannot put it at ${target}; remove that path`, {
    cause,
  });
}

function removeTree(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch { /* it was never made, or it is in place */ }
}

function placeOf(cacheRoot: string, key: string): string {
  if (!/^[0-9a-f]{64}$/.test(key)) throw new TypeError(`Find cached build: found key ${key}, wanted 64 hex digits`);
  return `${cacheRoot}/${key}`;
}
