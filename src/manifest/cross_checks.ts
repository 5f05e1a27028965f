import { CapsuleError } from "../base/mod.ts";
import { findCredential, findReference, isCredentialName } from "./credentials.ts";
import { joinPath, type Problem, type ReadDocument } from "./document.ts";
import { checkGlob } from "./glob.ts";
import { guestPathsOverlap, normalizeGuestPath, RESERVED_GUEST_PATHS } from "./guest_path.ts";
import { parseNetEntry, parseProxy } from "./net_entry.ts";
import { describeFound } from "./problems.ts";

/**
 * What no schema of single values can say. It runs on the raw value, whatever the schema found, so that all problems of
 * a file come at once; a value of a wrong type is left to the schema.
 */
export function checkAcross(document: ReadDocument, grantsPath: "grants" | "ceiling"): Problem[] {
  const grants = get(document.value, grantsPath);
  return [...checkTexts(document.value, "", document), ...checkGrants(document, grants, grantsPath)];
}

/** One grants block, which stands at `grantsPath`. */
export function checkGrants(document: ReadDocument, grants: unknown, grantsPath: string): Problem[] {
  return [
    ...checkEnv(get(grants, "env"), `${grantsPath}.env`, document),
    ...checkSpawn(get(grants, "spawn"), `${grantsPath}.spawn`, document),
    ...checkNet(get(grants, "net"), `${grantsPath}.net`, document),
    ...checkMounts(get(get(grants, "fs"), "mounts"), `${grantsPath}.fs.mounts`, document),
  ];
}

/** `component` must name a file of the capsule. */
export function checkComponent(document: ReadDocument): Problem[] {
  const component = get(document.value, "component");
  return typeof component === "string" ? checkNamedFile(document, "component", component) : [];
}

/** The file that is named at `path` must lie below the manifest, where the capsule's digest covers it. */
export function checkNamedFile(document: ReadDocument, path: string, file: string): Problem[] {
  if (file === "") return [];
  const segments = file.split("/");
  const refuse = (allowed: string) => [problem(document, path, `found ${describeFound(file)}, ${allowed}`)];
  if (file.startsWith("/") || file.includes("\\") || segments.includes("..")) {
    return refuse("allowed: a relative path below this file, without '..'");
  }
  if (segments.some((segment) => /^\.(git|boll)$/i.test(segment))) {
    return refuse("but .git and .boll are no part of a capsule, nor of its digest");
  }
  return [];
}

/** Every glob of a `boll.jsonc`. */
export function checkGlobs(document: ReadDocument): Problem[] {
  return elements(get(document.value, "capsules")).flatMap(([glob, index]) =>
    typeof glob === "string" ? attempt(document, `capsules[${index}]`, () => checkGlob(glob)) : []
  );
}

/** Where a reference to a secret is read; whether it may be there is looked at beside what it is used for. */
const REFERENCE_PLACES = /^(inference\.(api_key|headers[.[].*)|peers\[\d+\]\.token)$/s;

/** Literal credentials and `${NAME}` in any text. */
function checkTexts(value: unknown, path: string, document: ReadDocument): Problem[] {
  if (typeof value === "string") {
    if (findCredential(value) !== undefined) {
      return [
        problem(document, path, `found ${describeFound(value)}, a manifest may not hold credentials; take it out`),
      ];
    }
    const reference = findReference(value);
    if (reference === undefined || REFERENCE_PLACES.test(path)) return [];
    const message = `found ${
      JSON.stringify(reference)
    }, but secrets are read only in api_key and headers of inference and in token of peers`;
    return [problem(document, path, message)];
  }
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item, index) => checkTexts(item, joinPath(path, index), document));
  return Object.entries(value).flatMap(([key, item]) => checkTexts(item, joinPath(path, key), document));
}

function checkEnv(env: unknown, path: string, document: ReadDocument): Problem[] {
  const seen = new Set<string>();
  return elements(env).flatMap(([name, index]) => {
    if (typeof name !== "string") return [];
    const at = `${path}[${index}]`;
    if (isCredentialName(name)) {
      return [
        problem(document, at, `found ${describeFound(name)}, but a variable that holds a credential may not be in env`),
      ];
    }
    if (seen.has(name)) return [problem(document, at, `found ${describeFound(name)} twice, keep one`)];
    seen.add(name);
    return [];
  });
}

function checkSpawn(spawn: unknown, path: string, document: ReadDocument): Problem[] {
  const names = elements(spawn);
  return names.flatMap(([name, index]) => {
    const isRepeated = typeof name === "string" && names.findIndex(([other]) => other === name) < index;
    return isRepeated ? [problem(document, `${path}[${index}]`, `found ${describeFound(name)} twice, keep one`)] : [];
  });
}

function checkNet(net: unknown, path: string, document: ReadDocument): Problem[] {
  const seen = new Set<string>();
  return elements(net).flatMap(([entry, index]) => {
    // What holds a credential is refused as such, with all other texts.
    if (typeof entry !== "string" || findCredential(entry) !== undefined) return [];
    const at = `${path}[${index}]`;
    return attempt(document, at, () => {
      const { text } = parseNetEntry(entry);
      if (seen.has(text)) throw new CapsuleError("grant.bad_net", `found ${describeFound(text)} twice, keep one`);
      seen.add(text);
    });
  });
}

/** `proxy` of a `boll.jsonc`. */
export function checkProxy(document: ReadDocument): Problem[] {
  const proxy = get(document.value, "proxy");
  return typeof proxy === "string" ? attempt(document, "proxy", () => void parseProxy(proxy)) : [];
}

function checkMounts(mounts: unknown, path: string, document: ReadDocument): Problem[] {
  const earlier: string[] = [];
  return elements(mounts).flatMap(([mount, index]) => {
    const guest = get(mount, "guest");
    if (typeof guest !== "string" || !guest.startsWith("/")) return [];
    const at = `${path}[${index}].guest`;
    return attempt(document, at, () => {
      const normal = normalizeGuestPath(guest);
      const other = [...RESERVED_GUEST_PATHS, ...earlier].find((one) => guestPathsOverlap(one, normal));
      earlier.push(normal);
      if (other === undefined) return;
      const why = RESERVED_GUEST_PATHS.includes(other) ? "is reserved" : "is mounted already";
      throw new CapsuleError("grant.bad_mount", `found ${describeFound(guest)}, but ${other} ${why} and they overlap`);
    });
  });
}

export function attempt(document: ReadDocument, path: string, check: () => void): Problem[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof CapsuleError)) throw error;
    return [problem(document, path, error.message)];
  }
}

export function problem(document: ReadDocument, path: string, message: string): Problem {
  return { offset: document.offsetOf(path), path, message };
}

export function get(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) {
    return undefined;
  }
  return (value as Record<string, unknown>)[key];
}

export function elements(value: unknown): readonly (readonly [value: unknown, index: number])[] {
  return Array.isArray(value) ? value.map((item, index) => [item, index] as const) : [];
}
