/**
 * Single files out of npm packages that are too large, or too foreign, to install: the archive is fetched through the
 * ordinary client (its own settings choose the registry and its cache), checked against a pinned hash, and read.
 * @module
 */
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";

/** The npm client that is used where none is installed; Deno runs it. */
const NPM = "npm@11.21.2";

/** A package's archive, pinned. */
export interface PinnedPackage {
  /** `name@version`. */
  readonly spec: string;
  /** SHA-512 of the archive in base64, as npm's `integrity` has it after `sha512-`. */
  readonly sha512: string;
}

/**
 * Fetches `wanted.spec` and gives the bytes of the files named, in that order; paths are inside the archive
 * (`package/…`).
 *
 * @throws Error when there is no client, no registry, another hash, or no such file.
 */
export async function readPackageFiles(wanted: PinnedPackage, paths: readonly string[]): Promise<Uint8Array[]> {
  const folder = Deno.makeTempDirSync({ prefix: "boll-npm-" });
  try {
    const archive = await pack(wanted.spec, folder);
    const found = createHash("sha512").update(archive).digest("base64");
    if (found !== wanted.sha512) {
      throw new Error(`Check ${wanted.spec}: found sha512-${found}, wanted sha512-${wanted.sha512}`);
    }
    const tar = gunzipSync(archive);
    return paths.map((path) => {
      const bytes = readTarFile(tar, path);
      if (!bytes) throw new Error(`Read ${wanted.spec}: found no ${path} in its archive`);
      return bytes;
    });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** One regular file of a tar archive, or undefined. Names over 100 bytes are not read. */
export function readTarFile(tar: Uint8Array, path: string): Uint8Array | undefined {
  const field = (at: number, length: number) => new TextDecoder().decode(tar.subarray(at, at + length)).split("\0")[0]!;
  for (let at = 0; at + 512 <= tar.length;) {
    const size = parseInt(field(at + 124, 12).trim() || "0", 8);
    if (field(at, 100) === path) return tar.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return undefined;
}

async function pack(spec: string, folder: string): Promise<Uint8Array> {
  const words = ["pack", spec, "--pack-destination", folder, "--silent", "--prefer-offline"];
  const deno = ["run", "-A", "--quiet", "--no-lock", "--no-config", "--node-modules-dir=none", `npm:${NPM}`];
  const clients: [string, string[]][] = [["npm", words], [Deno.execPath(), [...deno, ...words]]];
  let said = "no client ran";
  for (const [program, args] of clients) {
    const archive = await runClient(program, args, folder).catch((error) => {
      said = error.message;
      return undefined;
    });
    if (archive) return archive;
  }
  throw new Error(
    `Fetch ${spec}: npm could not pack it (${said}). Connect to a package registry once, or fill npm's cache`,
  );
}

async function runClient(program: string, args: string[], folder: string): Promise<Uint8Array> {
  const command = new Deno.Command(program, { args, cwd: folder, stdin: "null", stdout: "null", stderr: "piped" });
  const { success, stderr } = await command.output();
  const archive = [...Deno.readDirSync(folder)].find((entry) => entry.name.endsWith(".tgz"));
  if (success && archive) return Deno.readFileSync(`${folder}/${archive.name}`);
  throw new Error(new TextDecoder().decode(stderr).trim().split("\n").slice(-3).join(" | "));
}
