/**
 * Builds what is committed twice, in fresh clones that share nothing but the network: other folders, homes, caches, time
 * zones, languages and file modes, and another time. Exits 0 when both gave the same bytes, else says where they part.
 * @module
 */
import { createHash } from "node:crypto";
import { dirname, join } from "@std/path";
import { compareBuilds } from "./compare_builds.ts";

interface Setting {
  readonly folder: string;
  readonly umask: string;
  readonly variables: Readonly<Record<string, string>>;
}

const SETTINGS: readonly [Setting, Setting] = [
  { folder: "a", umask: "022", variables: { TZ: "UTC", LANG: "C", LC_ALL: "C" } },
  {
    folder: "a longer näme",
    umask: "077",
    variables: { TZ: "Pacific/Kiritimati", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" },
  },
];

async function main(): Promise<number> {
  const root = join(import.meta.dirname!, "..");
  const place = Deno.makeTempDirSync({ prefix: "boll-reproduce-" });
  try {
    const builds: string[] = [];
    for (const setting of SETTINGS) builds.push(await buildClone(root, join(place, setting.folder), setting));
    const differences = compareBuilds(builds[0]!, builds[1]!);
    if (differences.length > 0) {
      console.error(["The two builds are not the same:", ...differences].join("\n"));
      return 1;
    }
    const sha256 = createHash("sha256").update(Deno.readFileSync(join(builds[0]!, "boll"))).digest("hex");
    console.log(`two clones of ${await describeHead(root)} gave the same bytes: sha256 ${sha256}`);
    return 0;
  } finally {
    Deno.removeSync(place, { recursive: true });
  }
}

/** Gives the `dist` folder of the clone. */
async function buildClone(root: string, folder: string, { umask, variables }: Setting): Promise<string> {
  const [home, clone] = [join(folder, "home"), join(folder, "clone")];
  Deno.mkdirSync(home, { recursive: true });
  linkNpmSettings(home);
  const env: Record<string, string> = {
    ...Deno.env.toObject(),
    ...variables,
    HOME: home,
    DENO_DIR: join(home, "deno"),
    // The pinned Deno is at hand: it is a tool, and its own version is checked.
    PATH: `${dirname(Deno.execPath())}:${Deno.env.get("PATH") ?? ""}`,
  };
  for (const name of ["DENORT_BIN", "npm_config_cache", "NPM_CONFIG_CACHE", "XDG_CACHE_HOME"]) delete env[name];
  const script = 'umask "$1" && git clone --quiet --no-local "$2" "$3" && cd "$3" && exec make build';
  const command = new Deno.Command("sh", {
    args: ["-eu", "-c", script, "sh", umask, root, clone],
    clearEnv: true,
    env,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  });
  const { success } = await command.output();
  if (!success) throw new Error(`Build ${clone}: make build failed`);
  return join(clone, "dist");
}

/** Which registry packages come from is a person's setting, not a part of the build. */
function linkNpmSettings(home: string): void {
  const own = join(Deno.env.get("HOME") ?? "/nonexistent", ".npmrc");
  try {
    Deno.symlinkSync(Deno.realPathSync(own), join(home, ".npmrc"));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function describeHead(root: string): Promise<string> {
  const { stdout } = await new Deno.Command("git", { args: ["-C", root, "rev-parse", "--short", "HEAD"] }).output();
  return new TextDecoder().decode(stdout).trim();
}

if (import.meta.main) {
  try {
    Deno.exitCode = await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exitCode = 1;
  }
}
