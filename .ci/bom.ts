/**
 * The bill of materials of the executable: CycloneDX 1.6, told from what was really put in. The same executable gives the
 * same text: no time, and a serial number made from the contents.
 * @module
 */
import { createHash } from "node:crypto";
import type { BaseBinary } from "./base_binary.ts";
import type { EmbeddedPackage } from "./embedded_packages.ts";

/** What is inside an executable. */
export interface Contents {
  /** boll's version, semver. */
  readonly version: string;
  /** Target triple. */
  readonly target: string;
  /** SHA-256 of the whole executable, hex. */
  readonly sha256: string;
  readonly base: BaseContents;
  /** Path inside the executable → SHA-256, hex. */
  readonly files: Readonly<Record<string, string>>;
  readonly packages: readonly EmbeddedPackage[];
}

/** The runtime that the files are appended to. */
export interface BaseContents {
  readonly kind: BaseBinary["kind"];
  /** SHA-256 of the base as it lies in the executable, hex. */
  readonly sha256: string;
  readonly deno: string;
  readonly v8: string;
  /** The npm package, `name@version`, that an unofficial base was cut out of. */
  readonly origin?: string;
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** The bill of materials, as JSON text. */
export function bomText(contents: Contents): string {
  const bom = {
    version: 1,
    metadata: { lifecycles: [{ phase: "build" }], component: describeProduct(contents) },
    components: [
      ...describeBase(contents.base),
      ...contents.packages.map(describePackage),
      ...Object.entries(contents.files).map(([path, sha256]) => describeFile(path, sha256)),
    ],
    dependencies: describeDependencies(contents),
    // What the runtime and the tools' core modules were themselves linked from, their binaries do not say.
    compositions: [
      { aggregate: "complete", assemblies: ["boll"], dependencies: ["boll"] },
      { aggregate: "unknown", assemblies: [baseRef(contents.base), ...contents.packages.filter(isLinked).map(purl)] },
    ],
  };
  const serialNumber = `urn:uuid:${uuidFrom(JSON.stringify(bom))}`;
  return JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.6", serialNumber, ...bom }, null, 2) + "\n";
}

/** The package URL of an npm package. */
export function purl({ name, version }: Pick<EmbeddedPackage, "name" | "version">): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function describeProduct({ version, target, sha256, base }: Contents): Json {
  return {
    ...{ type: "application", "bom-ref": "boll", name: "boll", version, licenses: licences("MIT") },
    hashes: [{ alg: "SHA-256", content: sha256 }],
    properties: [{ name: "boll:target", value: target }, { name: "boll:base", value: base.kind }],
  };
}

function describeBase(base: BaseContents): Json[] {
  const origin = base.origin === undefined ? [] : [{ name: "boll:origin", value: `npm package ${base.origin}` }];
  const notes: Record<BaseBinary["kind"], string> = {
    official: "The runtime that deno compile appends a program to",
    unofficial: "The runtime that deno compile appends a program to; a third party's copy, not for a release",
  };
  return [
    {
      ...{ type: "application", "bom-ref": baseRef(base), name: "denort", version: base.deno },
      ...{ description: notes[base.kind], purl: baseRef(base), licenses: licences("MIT") },
      hashes: [{ alg: "SHA-256", content: base.sha256 }],
      properties: [{ name: "boll:base", value: base.kind }, ...origin],
    },
    {
      ...{ type: "library", "bom-ref": engineRef(base), name: "v8", version: base.v8, purl: engineRef(base) },
      licenses: licences("BSD-3-Clause"),
    },
  ];
}

function describeFile(path: string, sha256: string): Json {
  return { type: "file", "bom-ref": fileRef(path), name: path, hashes: [{ alg: "SHA-256", content: sha256 }] };
}

function describePackage(found: EmbeddedPackage): Json {
  const [name, group] = found.name.split("/").reverse();
  return {
    ...{ type: "library", "bom-ref": purl(found), ...(group === undefined ? {} : { group }), name: name! },
    ...{ version: found.version, purl: purl(found), licenses: licences(found.licence) },
    // Of the package's archive, of which only a part is embedded.
    hashes: [{ alg: "SHA-512", content: Uint8Array.fromBase64(found.sha512).toHex() }],
  };
}

function describeDependencies({ base, files, packages }: Contents): Json[] {
  return [
    { ref: "boll", dependsOn: [baseRef(base), ...Object.keys(files).map(fileRef)] },
    { ref: baseRef(base), dependsOn: [engineRef(base)] },
    { ref: engineRef(base), dependsOn: [] },
    ...Object.keys(files).map((path) => ({
      ref: fileRef(path),
      dependsOn: packages.filter((found) => found.files.includes(path)).map(purl),
    })),
    ...packages.map((found) => ({ ref: purl(found), dependsOn: [] })),
  ];
}

/** Whether core modules of the package are embedded, themselves linked from libraries. */
function isLinked({ files }: EmbeddedPackage): boolean {
  return files.some((path) => path.endsWith(".bin.br"));
}

function licences(expression: string): Json {
  return [expression.includes(" ") ? { expression } : { license: { id: expression } }];
}

const baseRef = ({ deno }: BaseContents) => `pkg:github/denoland/deno@v${deno}`;
const engineRef = ({ v8 }: BaseContents) => `pkg:generic/v8@${v8}`;
const fileRef = (path: string) => `file:${path}`;

/** A UUID of version 8 (RFC 9562) whose bits are a digest of `text`. */
function uuidFrom(text: string): string {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
