import { type Bed, fixture, REPOSITORY } from "../harness.ts";

/** Homes in which guests were built once for this file's tests; gone when the file's tests are done. */
let warmHome: string | undefined;

/**
 * The path of the guest `name`, with its build already in the bed's cache: what a run of it costs is then the run alone.
 * The executable builds, also for runs from source: the cache is the same.
 */
export async function warmGuest(bed: Bed, name: string): Promise<string> {
  const path = await fixture(name);
  warmHome ??= makeWarmHome();
  const built = `${warmHome}/${name}.built`;
  if (!isThere(built)) {
    const build = new Deno.Command(Deno.env.get("BOLL_BIN") ?? `${REPOSITORY}/dist/boll`, {
      args: ["explain", path],
      clearEnv: true,
      env: { ...bed.environment(), BOLL_HOME: warmHome },
    });
    const { code, stderr } = await build.output();
    if (code !== 0) throw new Error(`Build ${name}: exit ${code}: ${new TextDecoder().decode(stderr)}`);
    Deno.writeTextFileSync(built, "");
  }
  copyFolder(`${warmHome}/cache`, `${bed.home}/cache`);
  return path;
}

function makeWarmHome(): string {
  const home = Deno.makeTempDirSync({ prefix: "boll-test-warm-" });
  globalThis.addEventListener("unload", () => Deno.removeSync(home, { recursive: true }));
  return home;
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
