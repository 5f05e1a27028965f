/** The files of one attempt: what is granted beside what is not, and what of that has changed. */
import { createHash } from "node:crypto";
import { dirname, join } from "@std/path";
import type { Bed } from "../harness.ts";
import type { World } from "./attempt.ts";

/** Makes the files of one attempt. */
export function makeWorld(bed: Bed, bystander: number, isNobody: boolean): World {
  const name = crypto.randomUUID();
  const secrets = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`secret-${at}.txt`, "secret"]));
  const victims = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`data/f${at}`, "granted"]));
  const outside = bed.folder(`${name}/outside`, {
    ...secrets,
    "secret.json": '{"secret":true}',
    "secret.js": 'export const secret = true;\nif (globalThis.postMessage) postMessage("secret");\n',
    "data/a.txt": "granted",
    "data/deep/b.txt": "granted",
    "data/granted.json": '{"granted":true}',
    "swapped.txt": "secret",
    "swapped/in.txt": "secret",
    ...victims,
  });
  const work = bed.folder(`${name}/work`, {
    "own.txt": "own",
    "own-1.txt": "own",
    "own-2.txt": "own",
    "swapped-file": "own",
    "swapped-folder/in.txt": "own",
    "swapped-folder/own.txt": "own",
  });
  Deno.mkdirSync(`${outside}/data/empty`);
  for (const [path, target] of Object.entries(plantedLinks(outside))) Deno.symlinkSync(target, join(outside, path));
  plantSpecials(`${outside}/data`);
  const runtime = join(bed.root, "run", "boll");
  plant(`${runtime}/other/secret.txt`);
  plant(`${bed.home}/sessions/${OTHER_SESSION}/work/secret.txt`);
  const system = isNobody ? READABLE : systemFile();
  return { outside, data: `${outside}/data`, work, system, home: bed.home, runtime, bystander };
}

function plant(path: string): void {
  Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  Deno.writeTextFileSync(path, "secret");
}

/** What is no regular file; devices can be made by root alone. */
function plantSpecials(data: string): void {
  make("mkfifo", `${data}/planted-fifo`);
  // It goes with its listener, but for a further name.
  const listener = Deno.listen({ transport: "unix", path: `${data}/socket` });
  Deno.linkSync(`${data}/socket`, `${data}/planted-socket`);
  listener.close();
  if (Deno.uid() !== 0) return;
  make("mknod", `${data}/planted-zero`, "c", "1", "5");
  make("mknod", `${data}/planted-disk`, "b", "7", "0");
}

function make(program: string, ...args: string[]): void {
  const { success, stderr } = new Deno.Command(program, { args }).outputSync();
  if (!success) throw new Error(`Make ${args[0]}: ${new TextDecoder().decode(stderr)}`);
}

const OTHER_SESSION = `ses_${"0".repeat(32)}`;
const READABLE = "/etc/passwd";

function plantedLinks(outside: string): Record<string, string> {
  return {
    "data/inside": "deep/../a.txt",
    "data/self": ".",
    "data/to-secret": "../secret-0.txt",
    "data/to-secret-absolute": `${outside}/secret-0.txt`,
    "data/up": "..",
    "data/chain": "self/deep/../to-secret",
    "data/to-root": "/proc/self/root",
    "data/to-cwd": "/proc/self/cwd",
    "data/to-fd": "/proc/self/fd",
    "data/to-init": "/proc/1",
    "../work/to-secret": "../outside/secret-8.txt",
    "../work/to-data": "../outside/data",
    "../work/swapped-link": "../outside/swapped.txt",
    "../work/swapped-folder-link": "../outside/swapped",
  };
}

/** A wall that fails must be seen to fail, so it is a file that the user who runs the tests may read. */
function systemFile(): string {
  try {
    Deno.readFileSync("/etc/shadow");
    return "/etc/shadow";
  } catch {
    return READABLE;
  }
}

/** Path → everything about it that an attempt could change. */
export function snapshot(folder: string, below = "", seen = new Map<string, string>()): Map<string, string> {
  for (const { name } of Deno.readDirSync(join(folder, below))) {
    const path = join(below, name);
    const info = Deno.lstatSync(join(folder, path));
    const content = info.isFile ? createHash("sha256").update(Deno.readFileSync(join(folder, path))).digest("hex") : "";
    const target = info.isSymlink ? Deno.readLinkSync(join(folder, path)) : "";
    seen.set(path, [info.mode, info.nlink, info.mtime?.getTime(), content, target].join(" "));
    if (info.isDirectory) snapshot(folder, path, seen);
  }
  return seen;
}
