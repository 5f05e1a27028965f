import type { BuildOptions, CachedComponent } from "./description.ts";

/** Names the transpiler and the rewriting done here; part of every cache key. */
export const TOOL_VERSION = "jco-transpile-0.15.0+1";

/** The cache folder's name for a component digest (`sha256:…`) built with these options: 64 lower-case hex. */
export function cacheKey(_digest: string, _options: BuildOptions): string {
  throw new Error("not built yet");
}

/** The cached build under `key`, or undefined when there is none or it is torn; contents are checked at load. */
export function findCached(_cacheRoot: string, _key: string): CachedComponent | undefined {
  throw new Error("not built yet");
}

/**
 * Takes a build out of `stagingDir` into the cache and returns it. `result` is what the build cell said.
 * @throws component.build_failed
 */
export function adoptBuild(
  _cacheRoot: string,
  _id: { readonly key: string; readonly digest: string },
  _stagingDir: string,
  _result: unknown,
): CachedComponent {
  throw new Error("not built yet");
}
