import { CapsuleError } from "../base/mod.ts";
import { type CachedComponent, type CoreFile, filesOf, type LoadedComponent } from "./description.ts";
import { type Link, linkGlue } from "./glue_code.ts";
import { hashBytes } from "./hash.ts";

/** Host functions and classes per interface, keyed without version: one object serves every 0.2.x. */
export type HostImports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Reads a cached build, hashes every byte and compiles the modules synchronously (compiling in the background right
 * after a transpile stalls for 100 ms and more). The modules can be posted to a worker.
 * @throws component.cache_mismatch
 */
export function loadCached(cached: Pick<CachedComponent, "dir" | "glue" | "code" | "modules">): LoadedComponent {
  const glueSource = new TextDecoder().decode(readChecked(cached.dir, cached.glue));
  const glueCode = readChecked(cached.dir, cached.code);
  const modules: Record<string, WebAssembly.Module> = {};
  for (const file of cached.modules) {
    const bytes = readChecked(cached.dir, file);
    try {
      modules[file.name] = new WebAssembly.Module(bytes);
    } catch (error) {
      throw new CapsuleError("component.cache_mismatch", `Load component: ${file.name} does not compile here`, {
        cause: error,
      });
    }
  }
  return { glueSource, glueCode, modules };
}

/**
 * What is wrong with a cached build, if anything: every file read and hashed, nothing compiled. The one who may build
 * asks before a cell, which may not, has to refuse.
 */
export function findMismatch(
  cached: Pick<CachedComponent, "dir" | "glue" | "code" | "modules">,
): CapsuleError | undefined {
  try {
    for (const file of filesOf(cached)) readChecked(cached.dir, file);
    return undefined;
  } catch (error) {
    if (error instanceof CapsuleError) return error;
    throw error;
  }
}

function readChecked(dir: string, file: CoreFile): Uint8Array<ArrayBuffer> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = Deno.readFileSync(`${dir}/${file.name}`);
  } catch (error) {
    throw new CapsuleError("component.cache_mismatch", `Load component: ${dir}/${file.name} cannot be read`, {
      cause: error,
    });
  }
  const found = hashBytes(bytes);
  if (found === file.sha256) return bytes;
  throw new CapsuleError(
    "component.cache_mismatch",
    `Load component: ${dir}/${file.name} has SHA-256 ${found}, wanted ${file.sha256}; it is built anew`,
  );
}

/** What a caller of {@link instantiate} may watch and end. */
export interface InstantiateOptions {
  /** Told each core instance and its module's file name. */
  onInstance?(instance: WebAssembly.Instance, module: string): void;
  /**
   * Once true, the instance never runs again: what it waits for may come, and it is not resumed. For an instance that
   * is given up while it waits.
   */
  isStopped?(): boolean;
  /** For an instance beside others: which of them has the thread. */
  readonly turns?: InstanceTurns;
}

/** Told whenever an instance takes the thread and gives it back, so that who keeps it is known. */
export interface InstanceTurns {
  /** Its code runs from now on. */
  enter(): void;
  /** It runs no more: it waits, or has returned. */
  leave(): void;
  /** Calls `goOn`, upon which it runs, when no other does. */
  resume(goOn: () => void): void;
}

/** The glue as a function, compiled once however many instances there are; each call of it has a state of its own. */
const LINKS = new WeakMap<LoadedComponent, Link>();

function linkOf(loaded: LoadedComponent): Link {
  const known = LINKS.get(loaded);
  if (known !== undefined) return known;
  const link = linkGlue(loaded.glueSource, loaded.glueCode);
  LINKS.set(loaded, link);
  return link;
}

type Call = (...args: unknown[]) => unknown;

/** The part of `WebAssembly` by which the glue lets a guest wait. */
const { Suspending, promising } = WebAssembly as unknown as {
  readonly Suspending: new (call: Call) => object;
  promising(call: Call): Call;
};

/** `WebAssembly` for one instance; with `isStopped` or `turns`, what resumes a suspended call asks first. */
function webAssemblyFor({ isStopped, turns }: InstantiateOptions): unknown {
  if (isStopped === undefined && turns === undefined) return WebAssembly;
  return Object.freeze(Object.create(WebAssembly, {
    Suspending: { value: guardConstructor((call) => suspending(call, isStopped ?? (() => false), turns)) },
    ...(turns === undefined ? {} : { promising: { value: (call: Call) => taking(turns, promising(call)) } }),
  }));
}

function suspending(call: Call, isStopped: () => boolean, turns: InstanceTurns | undefined): object {
  return new Suspending((...args: unknown[]) => {
    const result = call(...args);
    if (!(result instanceof Promise)) return result;
    turns?.leave();
    return new Promise((resolve, reject) => {
      const goOn = (settle: () => void) => {
        if (turns === undefined) return void (isStopped() || settle());
        turns.resume(() => {
          if (isStopped()) return;
          turns.enter();
          settle();
        });
      };
      result.then((value) => goOn(() => resolve(value)), (error) => goOn(() => reject(error)));
    });
  });
}

/** The same call, which has the thread until it waits for the first time or returns. */
function taking(turns: InstanceTurns, call: Call): Call {
  return (...args) => {
    turns.enter();
    try {
      return call(...args);
    } finally {
      turns.leave();
    }
  };
}

/** `guard` behind `new`: a constructor that gives back an object makes that one. */
function guardConstructor(guard: (call: Call) => object): unknown {
  return function (call: Call) {
    return guard(call);
  };
}

/**
 * Links a component against exactly `imports` and runs its start functions; gives its exports, by interface name with
 * and without version. Nothing is looked up on a prototype: an import that is not an own property is missing, whatever
 * it is called. A missing import throws before any guest instruction. Call it in the guest's thread; every call makes an
 * instance of its own.
 */
export async function instantiate(
  loaded: LoadedComponent,
  imports: HostImports,
  options: InstantiateOptions = {},
): Promise<Record<string, unknown>> {
  const names = new Map(Object.entries(loaded.modules).map(([name, module]) => [module, name]));
  const start = linkOf(loaded)(SILENT_CONSOLE, GLUE_GLOBAL, webAssemblyFor(options));
  const link = () =>
    start((name) => getOwn(loaded.modules, name), copyImports(imports), (module, coreImports) => {
      const instance = new WebAssembly.Instance(module, coreImports);
      options.onInstance?.(instance, names.get(module) ?? "");
      return instance;
    });
  const exports = await (options.turns === undefined ? link() : taking(options.turns, link)()) as object;
  return Object.assign(Object.create(null), exports);
}

/** The glue prints host errors before it throws them; what is thrown is told by whoever called. */
const SILENT_CONSOLE = Object.freeze({
  __proto__: null,
  error: () => {},
  warn: () => {},
  log: () => {},
  debug: () => {},
});
const GLUE_GLOBAL = Object.freeze({ __proto__: null, WebAssembly });

function getOwn(modules: Readonly<Record<string, WebAssembly.Module>>, name: string): WebAssembly.Module {
  if (Object.hasOwn(modules, name)) return modules[name]!;
  throw new CapsuleError("component.cache_mismatch", "Link component: the glue names a core module that it has not");
}

/** Objects without a prototype, so that a guest's `constructor` or `to-string` finds nothing it was not given. */
function copyImports(imports: HostImports): Record<string, unknown> {
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, members] of Object.entries(imports)) {
    const own: Record<string, unknown> = Object.create(null);
    for (const [name, member] of Object.entries(members)) {
      if (isClass(member)) detachClass(member);
      own[name] = member;
    }
    copy[key] = own;
  }
  return copy;
}

function isClass(value: unknown): value is { prototype: object } {
  return typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));
}

/**
 * Cuts a resource class, or the class that it extends in the end, off Object.prototype and Function.prototype, so that
 * `[method]x.has-own-property` or `[static]x.call` is no function. One that extends a built-in class stays as it is.
 */
function detachClass(resource: { prototype: object }): void {
  let base = resource;
  for (let above = Object.getPrototypeOf(base); isClass(above); above = Object.getPrototypeOf(above)) base = above;
  if (Object.getPrototypeOf(base.prototype) === Object.prototype) Object.setPrototypeOf(base.prototype, null);
  if (Object.getPrototypeOf(base) === Function.prototype) Object.setPrototypeOf(base, null);
}

/**
 * The `run` function of `wasi:cli/run` (any 0.2.x) among a component's exports, bound; undefined when there is none.
 * It resolves for `ok` and throws an error with `payload` for `err`.
 */
export function findRun(exports: Readonly<Record<string, unknown>>): (() => Promise<void>) | undefined {
  const key = findRunName(Object.keys(exports));
  const run = key === undefined ? undefined : (exports[key] as { run?: unknown } | undefined)?.run;
  return typeof run === "function" ? async () => void await run() : undefined;
}

/** The name under which a command exports `wasi:cli/run`, out of a description's exports; undefined for other capsules. */
export function findRunName(exports: readonly string[]): string | undefined {
  return exports.find((name) => name === "wasi:cli/run" || name.startsWith("wasi:cli/run@0.2."));
}

/** What handles one request; its arguments are the host's own resources. It resolves when the guest has returned. */
export type HandleRequest = (request: unknown, outparam: unknown) => Promise<void>;

/** The `handle` of `wasi:http/incoming-handler` (any 0.2.x) among a component's exports; undefined when there is none. */
export function findHandler(exports: Readonly<Record<string, unknown>>): HandleRequest | undefined {
  const key = findHandlerName(Object.keys(exports));
  const handle = key === undefined ? undefined : (exports[key] as { handle?: unknown } | undefined)?.handle;
  return typeof handle === "function" ? async (request, outparam) => void await handle(request, outparam) : undefined;
}

/** The name under which a service exports its handler, out of a description's exports; undefined for other capsules. */
export function findHandlerName(exports: readonly string[]): string | undefined {
  const name = "wasi:http/incoming-handler";
  return exports.find((found) => found === name || found.startsWith(`${name}@0.2.`));
}

/** A tool's two functions; what they give is the guest's, of whatever kind. */
export interface GuestTool {
  describe(): Promise<unknown>;
  /** Resolves for `ok`, and throws an error with `payload` for `err`. */
  invoke(input: string): Promise<unknown>;
}

/** `boll:capsule/tool` among a component's exports; undefined when there is none. */
export function findTool(exports: Readonly<Record<string, unknown>>): GuestTool | undefined {
  const key = findToolName(Object.keys(exports));
  const tool = (key === undefined ? undefined : exports[key]) as Partial<Record<keyof GuestTool, unknown>> | undefined;
  const { describe, invoke } = tool ?? {};
  if (typeof describe !== "function" || typeof invoke !== "function") return undefined;
  return { describe: async () => await describe(), invoke: async (input) => await invoke(input) };
}

/** The name under which a tool exports itself, out of a description's exports; undefined for other capsules. */
export function findToolName(exports: readonly string[]): string | undefined {
  return exports.find((name) => name === "boll:capsule/tool" || name === "boll:capsule/tool@0.1.0");
}
