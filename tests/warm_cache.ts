import { dirname, join } from "@std/path";
import type { Bed } from "./harness.ts";
import { fixture } from "./fixtures/fixture.ts";

const REPOSITORY = join(import.meta.dirname!, "..");

/**
 * The path of the guest `name`, with its build already in the bed's cache: what a run of it costs is then the run alone.
 * It is built once for each executable, which builds also for runs from source: the cache is the same.
 */
export async function warmGuest(bed: Bed, name: string): Promise<string> {
  const path = await fixture(name);
  await warm(bed, path, `${path.split("/").at(-2)}-${name}`);
  return path;
}

/** Puts the builds of these samples into the bed's cache: a copy of one has the same bytes, and so the same build. */
export async function warmSamples(bed: Bed, names: readonly string[]): Promise<void> {
  for (const name of names) await warm(bed, `${REPOSITORY}/capsules/${name}`, `sample-${name}`);
}

async function warm(bed: Bed, path: string, name: string): Promise<void> {
  const program = Deno.env.get("BOLL_BIN") ?? `${REPOSITORY}/dist/boll`;
  const { mtime, size } = Deno.statSync(program);
  const home = `${REPOSITORY}/.build/warm/${size}-${mtime?.getTime()}/${name}`;
  if (!isThere(home)) await build(bed, { program, path, home });
  copyFolder(`${home}/cache`, `${bed.home}/cache`);
}

/** Whole or not at all: several files of tests may build the same. */
async function build(bed: Bed, { program, path, home }: Record<"program" | "path" | "home", string>): Promise<void> {
  // Not `home/..`: that would make an empty `home` on its way, which another would take for a whole one.
  const folder = dirname(home);
  Deno.mkdirSync(folder, { recursive: true });
  const fresh = Deno.makeTempDirSync({ dir: folder, prefix: ".new-" });
  const command = new Deno.Command(program, {
    args: ["explain", path],
    clearEnv: true,
    env: { ...bed.environment(), BOLL_HOME: fresh },
  });
  const { code, stderr } = await command.output();
  if (code !== 0) throw new Error(`Build ${path}: exit ${code}: ${new TextDecoder().decode(stderr)}`);
  try {
    Deno.renameSync(fresh, home);
  } catch (error) {
    if (!isThere(home)) throw error;
    Deno.removeSync(fresh, { recursive: true });
  }
}

function copyFolder(from: string, to: string): void {
  Deno.mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copyFolder(`${from}/${name}`, `${to}/${name}`);
    else if (!isThere(`${to}/${name}`)) Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
  }
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
