/**
 * Goes into the executable, in front of a role's entry: takes scripts out of their pack and runs them as modules. Each
 * lies there with what the engine made of it when the executable was built, so that a start parses and compiles little.
 * That is checked by the engine (its version, its flags, the source's length); refused, the source is compiled.
 *
 * Nothing is loaded that is not in a pack: a bundle's own `import()` is a call of this loader.
 * @module
 */
import { Script } from "node:vm";
import { Attic, type AtticIndex, type Place } from "./attic_reader.ts";

/** Where the two parts of a script lie in its pack: offset and length, bytes. */
export interface PackedScript {
  readonly source: Place;
  /** What the engine made of the source; it stands before it. */
  readonly code?: Place;
}

/** What every script sees as `BOLL_BUNDLE`. */
export interface Bundle {
  /** The module that loads it: what lies beside it is in the executable. */
  readonly url: string;
  /** The bytes of the pack of the role with this entry, such as `./worker.js`. */
  readPack(entry: string): Uint8Array<ArrayBuffer>;
  /** The bytes of another file of the executable. */
  readFile(path: string): Uint8Array<ArrayBuffer>;
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

const bundle: Bundle = {
  url: import.meta.url,
  readPack: (entry) => openAttic().read(packFile(entry)),
  readFile: (path) => openAttic().read(path),
};
const roles = new Map<string, Load>();

/** Runs the entry of a role whose pack lies in the executable, once, and gives what it exports. */
export function loadRole<T>(entry: string): T {
  const load = roles.get(entry) ?? openPack((part) => openAttic().read(packFile(entry), part), entry);
  roles.set(entry, load);
  return load(entry) as T;
}

/** The bytes at a place of a pack. */
type ReadPart = (part: Place) => Uint8Array<ArrayBuffer>;

/** A pack that is in memory as a whole. */
export function partsOf(pack: Uint8Array<ArrayBuffer>): ReadPart {
  return ([offset, length]) => pack.subarray(offset, offset + length);
}

/** Makes the scripts of a pack loadable by name; a name that is not in it is the entry of another role. */
export function openPack(read: ReadPart, role: string): Load {
  const head = read([0, HEAD_BYTES]);
  const indexLength = new DataView(head.buffer, head.byteOffset).getUint32(0, true);
  const decoder = new TextDecoder();
  const index: Record<string, PackedScript> = JSON.parse(decoder.decode(read([HEAD_BYTES, indexLength])));
  const modules = new Map<string, { exports: unknown }>();
  const load: Load = (name) => {
    const known = modules.get(name);
    if (known !== undefined) return known.exports;
    const packed = Object.hasOwn(index, name) ? index[name] : undefined;
    if (packed === undefined) return name.startsWith("node:") ? builtin(name) : loadRole(name);
    const module = { exports: {} };
    modules.set(name, module);
    const [source, code] = readScript(read, packed);
    const options = { filename: new URL(name, NAMES).href, ...(code === undefined ? {} : { cachedData: code }) };
    const script = new Script(decoder.decode(source), options);
    if (reportsCode) reportAtExit(role, name, script, packed.code !== undefined);
    (script.runInThisContext() as ScriptFunction)(load, module, bundle);
    return module.exports;
  };
  return load;
}

/** Both parts at once. */
function readScript(
  read: ReadPart,
  { source, code }: PackedScript,
): [Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>?] {
  if (code === undefined) return [read(source)];
  const both = read([code[0], code[1] + source[1]]);
  return [both.subarray(code[1]), both.subarray(0, code[1])];
}

/** What `compile.ts` writes in front of `main.js`. */
declare const BOLL_ATTIC: AtticIndex;

let attic: Attic | undefined;

/** Opened before there is a wall, by the first role. */
function openAttic(): Attic {
  if (typeof BOLL_ATTIC === "undefined") throw new Deno.errors.NotFound("Open the attic: this thread has none");
  return attic ??= Attic.open(Deno.execPath(), BOLL_ATTIC);
}

function packFile(entry: string): string {
  return entry.slice("./".length).replace(/\.js$/, ".pack");
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
