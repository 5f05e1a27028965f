import { Script } from "node:vm";

/** What the glue makes instances with, out of the globals that it is given. */
export type Instantiate = (
  getCoreModule: (name: string) => WebAssembly.Module,
  imports: Record<string, unknown>,
  instantiateCore: (module: WebAssembly.Module, imports?: WebAssembly.Imports) => WebAssembly.Instance,
) => Promise<Record<string, unknown>>;

/** The glue as a function of its globals. */
export type Link = (console: unknown, globalThis: unknown, webAssembly: unknown) => Instantiate;

/** What the glue is called in a stack; the engine keeps it with the code, which is the same wherever it is made. */
const NAME = "boll:///glue.js";

/** Globals that the glue has no business with; it sees undefined. */
const HIDDEN = ["process", "Deno", "fetch", "self", "window", "Worker", "require", "postMessage"] as const;

/**
 * The engine's code of a glue that was checked (`glue_check.ts`), which is not run: with it {@link linkGlue} need not read
 * the text again.
 */
export function makeGlueCode(source: string): Uint8Array {
  return new Uint8Array(new Script(wrap(source), { filename: NAME }).createCachedData());
}

/**
 * The glue as a function. `code` of another engine, or of other flags, is passed over by the engine: then it compiles the
 * text, which is the same and takes longer.
 */
export function linkGlue(source: string, code: Uint8Array): Link {
  const script = new Script(wrap(source), { filename: NAME, cachedData: code });
  return script.runInThisContext() as Link;
}

/** The check let only a text through that is the body of a function, so that it cannot end this one before its end. */
function wrap(source: string): string {
  return `(function(${["console", "globalThis", "WebAssembly", ...HIDDEN].join()}){${source}\n})`;
}
