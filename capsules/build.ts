/**
 * Builds the sample capsules: `deno run -A capsules/build.ts`. A sample is built again only when one of its inputs
 * changed; two builds at once are safe, since every file is written whole.
 * @module
 */
import { createHash } from "node:crypto";

/** What a JavaScript guest is built from. Paths are absolute. */
export interface BuildGuestOptions {
  /** The entry module, an ES module that exports `run`. */
  source: string;
  /** The folder below which its relative imports lie. */
  moduleRoot: string;
  /** A folder of WIT packages. */
  wit: string;
  /** The world of that folder to build for. */
  world: string;
}

/** The bytes of the component built from a JavaScript guest; takes about a second. */
export async function buildGuest(options: BuildGuestOptions): Promise<Uint8Array> {
  // Loaded only when there is something to build.
  const { componentize } = await import("componentize-qjs");
  const { component } = await componentize({
    jsSource: Deno.readTextFileSync(options.source),
    jsPath: options.source,
    moduleRoot: options.moduleRoot,
    witPath: options.wit,
    world: options.world,
    // The asynchronous runtime needs component-model async of its host.
    sync: true,
    optSize: true,
  });
  return new Uint8Array(component);
}

/** WASI under another name of the same length, and another version: see {@link buildApart}. */
const FOREIGN = { name: "xasi:", version: "@0.2.11" } as const;

/**
 * {@link buildGuest} for a world with `wasi:http` or `boll:capsule`; `folders` below the module root hold all that is
 * imported.
 *
 * The builder runs a guest once while it is built, with its own `wasi:io` and with traps for what it does not know, whose
 * streams and pollables are then of two types and do not link. So the guest is built for packages that are all unknown to it, and these get
 * their name back afterwards, byte for byte. (With another version, since the runtime inside imports `wasi:io` too.)
 */
export async function buildApart(options: BuildGuestOptions, folders: readonly string[]): Promise<Uint8Array> {
  const root = Deno.makeTempDirSync();
  try {
    for (const folder of [...folders, options.wit.slice(options.moduleRoot.length + 1)]) {
      for (const file of listFiles(`${options.moduleRoot}/${folder}`)) {
        const copy = `${root}${file.slice(options.moduleRoot.length)}`;
        Deno.mkdirSync(copy.slice(0, copy.lastIndexOf("/")), { recursive: true });
        const text = Deno.readTextFileSync(file);
        Deno.writeTextFileSync(copy, text.replaceAll("wasi:", FOREIGN.name).replaceAll("@0.2.12", FOREIGN.version));
      }
    }
    const moved = (path: string) => `${root}${path.slice(options.moduleRoot.length)}`;
    const { source, wit } = options;
    return renamed(await buildGuest({ ...options, source: moved(source), wit: moved(wit), moduleRoot: root }));
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

/** Replaces the foreign name by WASI's. */
function renamed(component: Uint8Array): Uint8Array {
  const [from, to] = [new TextEncoder().encode(FOREIGN.name), new TextEncoder().encode("wasi:")];
  for (let at = component.indexOf(from[0]!); at >= 0; at = component.indexOf(from[0]!, at + 1)) {
    if (from.every((byte, index) => component[at + index] === byte)) component.set(to, at);
  }
  return component;
}

/** One component of a sample: its command or service, or one of its tools. */
interface SampleComponent {
  readonly sample: string;
  /** Of the component's file, without `.wasm`. */
  readonly name: string;
  /** The entry module below the sample's folder. */
  readonly entry: string;
  readonly world: string;
}

/** Builds every sample below `folder` that is not up to date; `stamps` keeps what each was built from. */
export async function buildCapsules(folder: string, stamps: string): Promise<void> {
  Deno.mkdirSync(stamps, { recursive: true });
  for (const { sample, name, entry, world } of sampleComponents(folder)) {
    const component = `${folder}/${sample}/${name}.wasm`;
    const stamp = `${stamps}/${sample === world ? sample : `${sample}-${name}`}.sha256`;
    const inputs = digestFiles([`${folder}/build.ts`, `${folder}/wit`, `${folder}/wasi`, `${folder}/${sample}/src`]);
    if (isFile(component) && isFile(stamp) && Deno.readTextFileSync(stamp) === inputs) continue;
    const startedAt = performance.now();
    const options = { source: `${folder}/${sample}/${entry}`, moduleRoot: folder, wit: `${folder}/wit`, world };
    const bytes = mustBuildApart(`${folder}/wit/worlds.wit`, world)
      ? await buildApart(options, [`${sample}/src`, "wasi"])
      : await buildGuest(options);
    replaceFile(component, bytes, stamps);
    replaceFile(stamp, new TextEncoder().encode(inputs), stamps);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.error(`built ${sample}/${name}: ${(bytes.length / 1e6).toFixed(2)} MB in ${seconds} s`);
  }
}

/** Whether a world of the file names what only {@link buildApart} can build for. */
function mustBuildApart(worlds: string, world: string): boolean {
  const text = Deno.readTextFileSync(worlds).split(`world ${world} {`)[1] ?? "";
  return /\b(wasi:http|boll:capsule)\//.test(text.slice(0, text.indexOf("}")));
}

/** The SHA-256 of all files at or below `paths`, with their names below each path. */
export function digestFiles(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) {
    for (const file of listFiles(path)) {
      hash.update(`${file.slice(path.length)}\0`).update(Deno.readFileSync(file)).update("\0");
    }
  }
  return hash.digest("hex");
}

/** Puts `bytes` at `path` in one step; `scratch` is a folder on the same file system. */
export function replaceFile(path: string, bytes: Uint8Array, scratch: string): void {
  const temporary = Deno.makeTempFileSync({ dir: scratch });
  Deno.writeFileSync(temporary, bytes);
  Deno.chmodSync(temporary, 0o644);
  Deno.renameSync(temporary, path);
}

/** Whether a regular file is at `path`. */
export function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** `src/main.js` of a sample is its component, for the world of its name; each file of `src/tools/` a tool, for that with `-tool`. */
function sampleComponents(folder: string): SampleComponent[] {
  const samples = namesIn(folder).filter((name) => isFolder(`${folder}/${name}/src`));
  return samples.flatMap((sample) => {
    const tools = isFolder(`${folder}/${sample}/src/tools`) ? namesIn(`${folder}/${sample}/src/tools`) : [];
    const main = { sample, name: sample.replaceAll("-", "_"), entry: "src/main.js", world: sample };
    return [
      ...(isFile(`${folder}/${sample}/src/main.js`) ? [main] : []),
      ...tools.map((file) => ({
        sample,
        name: file.replace(/\.js$/, ""),
        entry: `src/tools/${file}`,
        world: `${sample}-tool`,
      })),
    ];
  });
}

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

function listFiles(path: string): string[] {
  if (isFile(path)) return [path];
  return namesIn(path).flatMap((name) => listFiles(`${path}/${name}`));
}

if (import.meta.main) {
  const folder = import.meta.dirname!;
  await buildCapsules(folder, `${folder}/../.build/capsules`);
}
