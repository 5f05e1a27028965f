/**
 * Goes into the executable, in front of a role's entry: takes scripts out of their pack and runs them as modules. Each
 * lies there with what the engine made of it when the executable was built, so that a start parses and compiles little.
 * That is checked by the engine (its version, its flags, the source's length); refused, the source is compiled.
 *
 * Nothing is loaded that is not in a pack: a bundle's own `import()` is a call of this loader.
 * @module
 */
import { Script } from "node:vm";

/** Where the two parts of a script lie in its pack: offset and length, bytes. */
export interface PackedScript {
  readonly source: readonly [number, number];
  /** What the engine made of the source. */
  readonly code?: readonly [number, number];
}

/** What every script sees as `BOLL_BUNDLE`. */
export interface Bundle {
  /** The module that loads it: what lies beside it is in the executable. */
  readonly url: string;
  /** The bytes of the pack of the role with this entry, such as `./worker.js`. */
  readPack(entry: string): Uint8Array<ArrayBuffer>;
}

type Load = (name: string) => unknown;
type ScriptFunction = (require: Load, module: { exports: unknown }, bundle: Bundle) => void;

/** Not empty when the executable is one that reports the code of its scripts, for the build of the product. */
declare const REPORTS_CODE: string;

const reportsCode = typeof REPORTS_CODE === "string" && REPORTS_CODE !== "";

/**
 * What the names of scripts are relative to: a URL, as an `import()` of whatever runs under them needs one, but of no
 * place that anything could be loaded from. The engine puts it into the code, which is the same wherever it is made.
 */
const NAMES = "boll:///";

/** The length of a pack's index, little-endian, stands before the index. */
const HEAD_BYTES = 4;

const bundle: Bundle = { url: import.meta.url, readPack };
const roles = new Map<string, Load>();

/** Runs the entry of a role whose pack lies in the executable, once, and gives what it exports. */
export function loadRole<T>(entry: string): T {
  const load = roles.get(entry) ?? openPack(readPack(entry), entry);
  roles.set(entry, load);
  return load(entry) as T;
}

/** Makes the scripts of a pack loadable by name; a name that is not in it is the entry of another role. */
export function openPack(pack: Uint8Array<ArrayBuffer>, role: string): Load {
  const indexLength = new DataView(pack.buffer).getUint32(0, true);
  const at = ([offset, length]: readonly [number, number]) => pack.subarray(offset, offset + length);
  const decoder = new TextDecoder();
  const index: Record<string, PackedScript> = JSON.parse(decoder.decode(at([HEAD_BYTES, indexLength])));
  const modules = new Map<string, { exports: unknown }>();
  const load: Load = (name) => {
    const known = modules.get(name);
    if (known !== undefined) return known.exports;
    const packed = Object.hasOwn(index, name) ? index[name] : undefined;
    if (packed === undefined) return name.startsWith("node:") ? builtin(name) : loadRole(name);
    const module = { exports: {} };
    modules.set(name, module);
    const code = packed.code === undefined ? {} : { cachedData: at(packed.code) };
    const script = new Script(decoder.decode(at(packed.source)), { filename: new URL(name, NAMES).href, ...code });
    if (reportsCode) reportAtExit(role, name, script, packed.code !== undefined);
    (script.runInThisContext() as ScriptFunction)(load, module, bundle);
    return module.exports;
  };
  return load;
}

function readPack(entry: string): Uint8Array<ArrayBuffer> {
  return Deno.readFileSync(new URL(entry.replace(/\.js$/, ".pack"), import.meta.url));
}

function builtin(name: string): unknown {
  return (globalThis as unknown as { process: { getBuiltinModule(name: string): unknown } }).process
    .getBuiltinModule(name);
}

const reports: (() => void)[] = [];

/** Characters of a piece of a report: a line of it is written at once, so that lines of several processes do not mix. */
const PIECE_LENGTH = 3_000;

/** What the engine has made of a script is whole when its role has done its work. Lines of stderr. */
function reportAtExit(role: string, name: string, script: Script, hadCode: boolean): void {
  reports.push(() => {
    const code = (script.createCachedData() as unknown as Uint8Array).toBase64();
    const taken = hadCode && script.cachedDataRejected === false ? "taken" : "made";
    const count = Math.ceil(code.length / PIECE_LENGTH);
    for (let at = 0; at < count; at++) {
      const piece = code.slice(at * PIECE_LENGTH, (at + 1) * PIECE_LENGTH);
      const line = `\n##${taken} ${role} ${name} ${Deno.pid} ${at + 1}/${count} ${piece}\n`;
      Deno.stderr.writeSync(new TextEncoder().encode(line));
    }
  });
  if (reports.length > 1) return;
  const report = () => reports.forEach((report) => report());
  const scope = globalThis as unknown as { postMessage?: (message: { kind?: string }) => void };
  const { exit } = Deno;
  Deno.exit = (code) => {
    report();
    return exit(code);
  };
  const post = scope.postMessage?.bind(scope);
  if (post === undefined) return;
  scope.postMessage = (message) => {
    // The thread of a tool's cell does not end by itself: its last frame is the one whose report counts.
    if (message.kind === "ended" || message.kind === "frame") report();
    post(message);
  };
}

/** Children whose stderr somebody would read have the reporting executable's own, for what they report. */
function inheritStderr(): void {
  const { Command } = Deno;
  Deno.Command = class extends Command {
    constructor(program: string | URL, options: Deno.CommandOptions = {}) {
      super(program, options.stderr === "piped" ? { ...options, stderr: "inherit" } : options);
    }

    override spawn(): Deno.ChildProcess {
      const nothing = new ReadableStream({ start: (controller) => controller.close() });
      return Object.defineProperty(super.spawn(), "stderr", { value: nothing });
    }
  };
}

if (reportsCode) inheritStderr();
