/** How a component is described and built: plain JSON, because it crosses from the build cell and lies in the cache. */

/** What a build may vary; part of the cache key. `memoryMb` is the cap of all linear memories together, 1–65 536. */
export interface BuildOptions {
  readonly memoryMb: number;
}

/** One file of a build: a name of `[a-z0-9_.]`, the SHA-256 of its content in lower-case hex, its size in bytes. */
export interface CoreFile {
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** What each linear memory that `module` defines starts with and may grow to, in pages of `page_bytes` (65 536). */
export interface MemoryPages {
  /** The file name of the core module. */
  readonly module: string;
  readonly page_bytes: number;
  readonly min_pages: number;
  readonly max_pages: number;
}

/** What a component asks for and offers; `adapted` is a preview1 module that was made into a component first. */
export interface ComponentDescription {
  readonly kind: "component" | "adapted";
  /** Imported interfaces as the component writes them, with versions. */
  readonly imports: readonly string[];
  /** Exported interfaces and functions as the component writes them, with versions. */
  readonly exports: readonly string[];
  /** The world as WIT text, at most 64 KiB; foreign text: print it through `printable`. */
  readonly wit: string;
  readonly memories: readonly MemoryPages[];
}

/** What a build leaves in its folder: the glue source, the engine's code of it, and the core modules it links. */
export interface BuildResult {
  /** `sha256:<hex>` of the very bytes that were built. */
  readonly digest: string;
  readonly description: ComponentDescription;
  readonly glue: CoreFile;
  readonly code: CoreFile;
  readonly modules: readonly CoreFile[];
}

/** All files of a build. */
export function filesOf({ glue, code, modules }: Pick<BuildResult, "glue" | "code" | "modules">): CoreFile[] {
  return [glue, code, ...modules];
}

/** A build that was checked and lies in the cache, in folder `dir`. */
export interface CachedComponent extends BuildResult {
  readonly key: string;
  readonly dir: string;
}

/** A cached build, verified and compiled; modules can be posted to a worker. */
export interface LoadedComponent {
  readonly glueSource: string;
  readonly glueCode: Uint8Array;
  readonly modules: Readonly<Record<string, WebAssembly.Module>>;
}
