import { basename, dirname, join } from "@std/path";
import { CapsuleError, printableLine } from "../base/mod.ts";
import { digestBytes, digestFile, digestFolder } from "./digest.ts";
import type { Capsule, Manifest } from "./manifest.ts";
import { readText } from "./regular_file.ts";

/** The name of every manifest. */
export const MANIFEST_NAME = "capsule.jsonc";

/** A larger manifest is refused, bytes. */
export const MAX_MANIFEST_BYTES = 1024 * 1024;

/**
 * Loads what a user names: a folder with a `capsule.jsonc`, that file itself, or a bare `.wasm`.
 * @throws {CapsuleError} `capsule.not_found`, `capsule.bad_file`, `manifest.*`
 */
export async function loadCapsule(path: string): Promise<Capsule> {
  const real = realPath(path);
  const info = Deno.statSync(real);
  if (info.isDirectory) return await loadFolder(real, path);
  if (info.isFile && basename(real) === MANIFEST_NAME) return await loadFolder(dirname(real), path);
  if (info.isFile && /\.wasm$/i.test(real)) {
    const name = basename(real).replace(/\.wasm$/i, "");
    return { kind: "bare", root: dirname(real), name, componentPath: real };
  }
  throw new CapsuleError(
    "capsule.bad_file",
    `Load capsule ${printableLine(path)}: wanted a folder, a ${MANIFEST_NAME} or a .wasm component`,
  );
}

/** The digests of a capsule, `sha256:<hex>`. */
export interface CapsuleDigests {
  /** What consent and records name: of the folder, or of a bare component's bytes. */
  readonly capsule: string;
  /** Of the component's bytes, the very ones that went into `capsule`. */
  readonly component: string;
}

/**
 * Reads and hashes each file of a capsule once. A manifest that is no longer the one that was read is refused: consent to
 * this digest would be consent to other grants than those that are shown and given.
 * @throws {CapsuleError} `capsule.bad_file`
 */
export function digestCapsule(capsule: Capsule): CapsuleDigests {
  if (capsule.kind === "bare") {
    const digest = digestFile(capsule.componentPath);
    return { capsule: digest, component: digest };
  }
  let component: string | undefined;
  let manifest: string | undefined;
  const folder = digestFolder(capsule.root, (path, digest) => {
    if (path === MANIFEST_NAME) manifest = digest;
    if (join(capsule.root, path) === capsule.componentPath) component = digest;
  });
  if (manifest !== capsule.manifestDigest) {
    const shown = printableLine(join(capsule.root, MANIFEST_NAME));
    throw new CapsuleError("capsule.bad_file", `Digest ${shown}: it changed since it was read; try again`);
  }
  if (component !== undefined) return { capsule: folder, component };
  throw new CapsuleError(
    "capsule.bad_file",
    `Digest ${printableLine(capsule.root)}: its component is not among the files that count`,
  );
}

async function loadFolder(root: string, asked: string): Promise<Capsule> {
  const manifestPath = join(root, MANIFEST_NAME);
  const shown = basename(asked) === MANIFEST_NAME ? asked : join(asked, MANIFEST_NAME);
  if (!exists(manifestPath)) {
    throw new CapsuleError(
      "manifest.not_found",
      `Load capsule ${printableLine(asked)}: found no ${MANIFEST_NAME} in it`,
    );
  }
  const { text, bytes } = readText(manifestPath, { code: "manifest.unreadable", maxBytes: MAX_MANIFEST_BYTES });
  const { parseManifest } = await import("./parse_manifest.ts");
  const manifest = parseManifest(text, shown);
  return {
    kind: "manifest",
    root,
    name: manifest.name,
    version: manifest.version,
    componentPath: resolveNamedFile(manifest, root, { path: "component", name: manifest.component, file: shown }),
    manifestPath,
    manifestDigest: digestBytes(bytes),
    manifest,
  };
}

/** A file that a manifest names, as a real path inside the capsule's folder. */
function resolveNamedFile(
  manifest: Manifest,
  root: string,
  named: { readonly path: string; readonly name: string; readonly file: string },
): string {
  const { line, column } = manifest.positions.at(named.path);
  const refuse = (why: string) => {
    const name = printableLine(JSON.stringify(named.name), 200);
    const where = `${printableLine(named.file)}:${line}:${column}`;
    return new CapsuleError("capsule.bad_file", `${where}: ${named.path}: found ${name}, ${why}`);
  };
  let real: string;
  let isFile: boolean;
  try {
    real = Deno.realPathSync(join(root, named.name));
    isFile = Deno.statSync(real).isFile;
  } catch {
    throw refuse("but no such file is in the capsule's folder; build it first, or correct the name");
  }
  if (!real.startsWith(`${root === "/" ? "" : root}/`)) throw refuse("but it leads out of the capsule's folder");
  if (!isFile) throw refuse("wanted a regular file");
  return real;
}

function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound ? "found nothing there" : "it cannot be read";
    throw new CapsuleError("capsule.not_found", `Load capsule ${printableLine(path)}: ${why}`, { cause: error });
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
