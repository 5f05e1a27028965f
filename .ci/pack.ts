/**
 * The bundles of each role as one pack of scripts, which `script_loader.ts` loads: unlike modules, scripts may have code
 * of the engine's own beside them (`code_cache.ts` adds it).
 * @module
 */
import { build, transform } from "esbuild";
import { join } from "@std/path";
import type { Sources } from "./bundle.ts";
import { ROLES, THREADS } from "./rooms.ts";
import type { PackedScript } from "./script_loader.ts";

/** A script and, if there is any, what the engine made of it. */
export interface ScriptParts {
  readonly source: Uint8Array;
  readonly code?: Uint8Array;
}

const ENTRIES = Object.values(ROLES).filter((bundle) => bundle !== "main.js");
const LOADER = ".ci/script_loader.ts";
const WORKER_ENTRY = ".ci/worker_entry.ts";
const IMPORT = /"\.\/([A-Za-z0-9_-]+\.js)"/g;

/**
 * Puts the bundles in `folder` into packs, one per role, and makes `main.js` and the entries of threads load from them. Gives what
 * each file was made from.
 *
 * @throws Error when `main.js` loads its roles in an unknown way.
 */
export async function packRoles(
  folder: string,
  bundles: Sources,
  define: Readonly<Record<string, string>>,
): Promise<Sources> {
  const names = Object.keys(bundles);
  const scripts = new Map<string, Uint8Array>();
  for (const name of names) if (name !== "main.js") scripts.set(name, await toScript(join(folder, name)));
  const main = Deno.readTextFileSync(join(folder, "main.js"));
  const made: Record<string, readonly string[]> = {
    "main.js": [...bundles["main.js"]!, LOADER],
    ...Object.fromEntries(THREADS.map((thread) => [thread, [WORKER_ENTRY, LOADER]])),
  };
  for (const entry of ENTRIES) {
    const reached = reachedFrom(folder, entry);
    const parts = new Map(reached.map((name) => [`./${name}`, { source: scripts.get(name)! }]));
    Deno.writeFileSync(join(folder, packOf(entry)), encodePack(parts));
    made[packOf(entry)] = [...new Set(reached.flatMap((name) => bundles[name]!))].sort();
  }
  for (const name of names) Deno.removeSync(join(folder, name));
  await writeEntry(join(folder, "main.js"), loadingPacks(main), define);
  for (const thread of THREADS) {
    await writeEntry(join(folder, thread), `import "./worker_entry.ts";`, { ...define, THREAD: `./${thread}` });
  }
  return made;
}

/** The file of a role's pack. */
export function packOf(entry: string): string {
  return entry.replace(/\.js$/, ".pack");
}

/** A pack: length of the index, index, bytes. */
export function encodePack(scripts: ReadonlyMap<string, ScriptParts>): Uint8Array<ArrayBuffer> {
  // Offsets count from the start of the pack, so that the index is as long as it is with the largest of them.
  const lay = (start: number) => {
    const index: Record<string, PackedScript> = {};
    let at = start;
    const place = (bytes: Uint8Array): [number, number] => [(at += bytes.length) - bytes.length, bytes.length];
    for (const [name, { source, code }] of scripts) {
      // Code first: at the start of what is read it lies where the engine can use it without a copy.
      index[name] = { ...(code === undefined ? {} : { code: place(code) }), source: place(source) };
    }
    return { text: new TextEncoder().encode(JSON.stringify(index)), end: at };
  };
  const room = lay(2 ** 30).text.length;
  const { text, end } = lay(4 + room);
  const pack = new Uint8Array(end);
  new DataView(pack.buffer).setUint32(0, room, true);
  pack.fill(0x20, 4, 4 + room);
  pack.set(text, 4);
  let at = 4 + room;
  for (const { source, code } of scripts.values()) {
    for (const bytes of code === undefined ? [source] : [code, source]) {
      pack.set(bytes, at);
      at += bytes.length;
    }
  }
  return pack;
}

/** The scripts of a pack. */
export function decodePack(pack: Uint8Array<ArrayBuffer>): Map<string, ScriptParts> {
  const length = new DataView(pack.buffer, pack.byteOffset).getUint32(0, true);
  const index: Record<string, PackedScript> = JSON.parse(new TextDecoder().decode(pack.subarray(4, 4 + length)));
  const at = ([offset, length]: readonly [number, number]) => pack.subarray(offset, offset + length);
  return new Map(
    Object.entries(index).map(([name, { source, code }]) => [
      name,
      { source: at(source), ...(code === undefined ? {} : { code: at(code) }) },
    ]),
  );
}

/** A bundle as a script: a function of what it needs. No `import()` and no `import.meta` is left in it. */
async function toScript(path: string): Promise<Uint8Array> {
  const { code } = await transform(Deno.readTextFileSync(path), {
    format: "cjs",
    platform: "neutral",
    target: "esnext",
    minify: true,
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "BOLL_BUNDLE.url" },
    legalComments: "none",
    // A letter beyond it would double the text in memory, and be slow to decode.
    charset: "ascii",
  });
  return new TextEncoder().encode(`(function(require,module,BOLL_BUNDLE){"use strict";${code}})`);
}

/** The bundle and all that it may load, other roles apart, in order of their names. */
function reachedFrom(folder: string, entry: string): string[] {
  const reached = new Set([entry]);
  for (const name of reached) {
    for (const [, other] of Deno.readTextFileSync(join(folder, name)).matchAll(IMPORT)) {
      if (!ENTRIES.includes(other!) && isFile(join(folder, other!))) reached.add(other!);
    }
  }
  return [...reached].sort();
}

function loadingPacks(main: string): string {
  const text = main.replaceAll(/\bimport\(("\.\/[a-z_]+\.js")\)/g, "loadRole($1)");
  if (/\bimport\b/.test(text)) throw new Error(`Pack main.js: found an import, wanted its roles alone: ${main}`);
  return `import { loadRole } from "./script_loader.ts";\n${text}`;
}

async function writeEntry(path: string, contents: string, define: Readonly<Record<string, string>>): Promise<void> {
  await build({
    stdin: { contents, resolveDir: import.meta.dirname!, loader: "ts" },
    outfile: path,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    target: "esnext",
    external: ["node:*"],
    tsconfigRaw: {},
    logLevel: "silent",
    define: Object.fromEntries(Object.entries(define).map(([name, value]) => [name, JSON.stringify(value)])),
  });
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
