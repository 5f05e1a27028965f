/**
 * Which npm packages are inside the executable, told from the files that its bytes come from.
 * @module
 */
import { join } from "@std/path";
import { ADAPTERS } from "./adapters.ts";
import type { Sources } from "./bundle.ts";

/** A package of which something is embedded. */
export interface EmbeddedPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly licence: string;
  /** SHA-512 of the package's archive in base64, as the lock file has it. */
  readonly sha512: string;
  /** Its folder in the checkout; undefined when only single files were taken out of its archive. */
  readonly folder?: string;
  /** The embedded files that hold something of it, sorted. */
  readonly files: readonly string[];
}

/**
 * The packages behind `sources`, sorted by name.
 *
 * @throws Error for a package that the lock file does not pin, or that states no licence.
 */
export function embeddedPackages(root: string, sources: Sources): EmbeddedPackage[] {
  const filesOf = new Map<string, Set<string>>();
  for (const [file, paths] of Object.entries(sources)) {
    for (const path of paths) {
      const place = packagePlace(path);
      if (place !== undefined) filesOf.set(place, (filesOf.get(place) ?? new Set()).add(file));
    }
  }
  const integrities = readIntegrities(root);
  return [...filesOf].map(([place, files]) => ({ ...describe(root, place, integrities), files: [...files].sort() }))
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

/** The package's folder for a file in `node_modules`, `npm:NAME@VERSION` for one out of an archive, else undefined. */
function packagePlace(path: string): string | undefined {
  return /^npm:(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? /^.*\/?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0];
}

function describe(
  root: string,
  place: string,
  integrities: ReadonlyMap<string, string>,
): Omit<EmbeddedPackage, "files"> {
  if (place === `npm:${ADAPTERS.package.spec}`) {
    const [, name, version] = /^(.+)@(.+)$/.exec(ADAPTERS.package.spec)!;
    return { name: name!, version: version!, licence: ADAPTERS.package.licence, sha512: ADAPTERS.package.sha512 };
  }
  const folder = join(root, place);
  const { name, version, license } = JSON.parse(Deno.readTextFileSync(join(folder, "package.json")));
  const integrity = integrities.get(`${name}@${version}`);
  if (!integrity?.startsWith("sha512-")) {
    throw new Error(`Name what is embedded: found ${name}@${version}, wanted a package that deno.lock pins by sha512`);
  }
  if (typeof license !== "string") {
    throw new Error(`Name what is embedded: found no licence in ${name}@${version}, wanted one in its package.json`);
  }
  return { name, version, licence: license.replace(/^\((.*)\)$/, "$1"), sha512: integrity.slice(7), folder };
}

/** `name@version` → integrity; the lock may add peers to a version, after `_`. */
function readIntegrities(root: string): Map<string, string> {
  const lock: { npm?: Record<string, { integrity?: string }> } = JSON.parse(
    Deno.readTextFileSync(join(root, "deno.lock")),
  );
  return new Map(
    Object.entries(lock.npm ?? {}).map(([key, { integrity }]) => [key.replace(/_.*$/, ""), integrity ?? ""]),
  );
}
