import type { CachedComponent, LoadedComponent } from "./description.ts";

/**
 * Reads a cached build, hashes every byte and compiles the modules synchronously.
 * @throws component.cache_mismatch
 */
export function loadCached(_cached: Pick<CachedComponent, "dir" | "glue" | "modules">): LoadedComponent {
  throw new Error("not built yet");
}

/** Links a component against exactly `imports` (keys without version) and returns its exports. */
export function instantiate(
  _loaded: LoadedComponent,
  _imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Promise<Record<string, unknown>> {
  throw new Error("not built yet");
}
