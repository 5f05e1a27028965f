/**
 * The base that `deno compile` appends a program to. Normally Deno downloads it; where only a package registry can be
 * reached, a third party's copy of the same version is cut out of an npm package, both hashes checked. Such a build is
 * marked `unofficial`: fit for tests, never for a release.
 * @module
 */
import { createHash } from "node:crypto";
import { type PinnedPackage, readPackageFiles } from "./npm_package.ts";

/**
 * A base binary that is ready to use: `path` goes into `DENORT_BIN`; without one Deno uses its own download. `origin` is
 * the npm package that an unofficial one was cut out of.
 */
export type BaseBinary =
  | { readonly kind: "official" }
  | { readonly kind: "unofficial"; readonly path: string; readonly origin: string };

interface Fallback {
  readonly deno: string;
  readonly target: string;
  readonly package: PinnedPackage;
  readonly file: string;
  /** SHA-256 of the base that is left when the program appended to it is cut off. */
  readonly sha256: string;
}

const FALLBACK: Fallback = {
  deno: "2.7.11",
  target: "x86_64-unknown-linux-gnu",
  package: {
    spec: "@stdy/cli-linux-x64@0.22.2",
    sha512: "kp5QdG26EC8gEzVXI0YgzmiiFHz7DFCNRLNfAWa2rDPHr/jUBnfkP8AlbTPmv0YNQpnKn1wzSWHFw88fn/OTog==",
  },
  file: "package/bin/steady",
  sha256: "f12d5d3886d5ea138304fb8d67d7396cfbedf53656676132152cb89f3fa4d8e6",
};

/** How long the official download may take, ms; a network that neither answers nor refuses must not hang a build. */
const OFFICIAL_TIMEOUT_MS = 120_000;

/**
 * Finds the official base, else the fallback (kept in `folder` from then on, so that later builds ask no network).
 *
 * @throws Error when there is neither, naming both reasons.
 */
export async function findBaseBinary(folder: string): Promise<BaseBinary> {
  const path = `${folder}/denort-${FALLBACK.deno}`;
  const unofficial: BaseBinary = { kind: "unofficial", path, origin: FALLBACK.package.spec };
  if (isWhole(path)) return unofficial;
  const refusal = await tryOfficial();
  if (refusal === undefined) return { kind: "official" };
  if (FALLBACK.deno !== Deno.version.deno || FALLBACK.target !== Deno.build.target) {
    throw new Error(
      `Find a base binary for deno compile: the download failed (${refusal}), and the fallback is ${FALLBACK.deno} ` +
        `for ${FALLBACK.target}, wanted ${Deno.version.deno} for ${Deno.build.target}`,
    );
  }
  console.error(
    `note: the official base binary cannot be fetched (${refusal}); using the copy in ${FALLBACK.package.spec}. ` +
      `The build is marked "base: unofficial"; "make clean" forgets it`,
  );
  await fetchFallback(path);
  return unofficial;
}

/**
 * The base out of an executable that `deno compile` (2.8 and earlier) made: the last 8 bytes hold the length of what
 * was appended, little-endian.
 *
 * @throws Error when that length does not fit the file.
 */
export function cutBase(executable: Uint8Array): Uint8Array {
  const view = new DataView(executable.buffer, executable.byteOffset, executable.byteLength);
  const appended = executable.length < 8 ? 0n : view.getBigUint64(executable.length - 8, true);
  if (appended < 8n || appended >= BigInt(executable.length)) {
    throw new Error(`Cut the base: found ${appended} bytes appended, wanted 8 to ${executable.length - 1}`);
  }
  return executable.subarray(0, executable.length - Number(appended));
}

/** Compiles an empty program. Undefined: the official base is here; else why it is not, in one line. */
async function tryOfficial(): Promise<string | undefined> {
  const folder = Deno.makeTempDirSync({ prefix: "boll-base-" });
  try {
    Deno.writeTextFileSync(`${folder}/empty.js`, "");
    const env = Deno.env.toObject();
    delete env.DENORT_BIN;
    const { success, stderr, signal } = await new Deno.Command(Deno.execPath(), {
      args: ["compile", "--no-config", "--no-lock", "--no-check", "--output", "empty", "empty.js"],
      cwd: folder,
      clearEnv: true,
      env: { ...env, NO_COLOR: "1" },
      stdin: "null",
      signal: AbortSignal.timeout(OFFICIAL_TIMEOUT_MS),
    }).output();
    if (success) return undefined;
    if (signal) return `no answer within ${OFFICIAL_TIMEOUT_MS / 1000} s`;
    const causes = [...new TextDecoder().decode(stderr).matchAll(/^ +\d+: ([a-z].*)$/gm)].map((found) => found[1]);
    return causes.findLast((cause) => !cause?.startsWith("<")) ?? "deno compile failed";
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

async function fetchFallback(path: string): Promise<void> {
  const [executable] = await readPackageFiles(FALLBACK.package, [FALLBACK.file]);
  const base = cutBase(executable!);
  const found = sha256(base);
  if (found !== FALLBACK.sha256) {
    throw new Error(`Check the base in ${FALLBACK.package.spec}: found sha256 ${found}, wanted ${FALLBACK.sha256}`);
  }
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  const fresh = `${path}.${crypto.randomUUID()}`;
  Deno.writeFileSync(fresh, base, { mode: 0o755 });
  Deno.renameSync(fresh, path);
}

function isWhole(path: string): boolean {
  try {
    return sha256(Deno.readFileSync(path)) === FALLBACK.sha256;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
