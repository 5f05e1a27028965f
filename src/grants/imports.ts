import { CapsuleError, printableLine } from "../base/mod.ts";
import type { Manifest, NetScheme } from "../manifest/mod.ts";
import type { Grants } from "./grants.ts";
import { hasScheme } from "./net_walls.ts";

/** One import that is not linked. JSON-safe. */
export interface MissingImport {
  /** As the component names it; control characters replaced, cut at 200 characters. */
  readonly interface: string;
  /** The grant that would link it: `clocks`, `random`, `net`, `spawn`; absent when none would. */
  readonly grant?: string;
  /** Line of the manifest that decides, from 1; absent for a bare component. */
  readonly manifestLine?: number;
  /** The flag or manifest entry that would allow it. */
  readonly allow?: string;
  /** Why, in one sentence without its end. */
  readonly reason: string;
}

/** Linked whatever the grants: empty they carry no authority. */
const ALWAYS: readonly string[] = [
  ...["error", "poll", "streams"].map((name) => `wasi:io/${name}`),
  ...["environment", "exit", "stdin", "stdout", "stderr"].map((name) => `wasi:cli/${name}`),
  ...["input", "output", "stdin", "stdout", "stderr"].map((name) => `wasi:cli/terminal-${name}`),
  ...["types", "preopens"].map((name) => `wasi:filesystem/${name}`),
];

const CLOCKS: readonly string[] = ["wasi:clocks/monotonic-clock", "wasi:clocks/wall-clock"];
const RANDOM: readonly string[] = ["wasi:random/random", "wasi:random/insecure", "wasi:random/insecure-seed"];
const HTTP: readonly string[] = ["wasi:http/types", "wasi:http/outgoing-handler"];
const SOCKETS: readonly string[] = [
  ...["network", "instance-network", "ip-name-lookup"].map((name) => `wasi:sockets/${name}`),
  ...["tcp", "tcp-create-socket", "udp", "udp-create-socket"].map((name) => `wasi:sockets/${name}`),
];

/** Delegation: the interface, and the one version of its package that is served. */
const HOST = "boll:capsule/host";
const HOST_VERSION = "0.1.0";

/** Interfaces that network entries link, and the schemes that do. */
const NETWORK: readonly {
  readonly names: readonly string[];
  readonly schemes: readonly NetScheme[];
  readonly entries: string;
  readonly example: string;
}[] = [
  { names: HTTP, schemes: ["https", "http"], entries: "an https:// or http:// entry", example: "https://HOST" },
  {
    names: SOCKETS,
    schemes: ["tcp", "udp", "listen"],
    entries: "a tcp://, udp:// or listen: entry",
    example: "tcp://HOST:PORT",
  },
];

/**
 * What a component is to the host: a service is handed requests, and needs no grant for what they are made of; a tool may
 * always speak to its agent, and is told when it delegates without the grant.
 */
export type ComponentRole = "command" | "service" | "tool";

/** Wall 1: the interfaces that are linked, without versions: exactly these, so that an unknown one is not. */
export function toImports(grants: Grants, role: ComponentRole = "command"): readonly string[] {
  return [
    ...ALWAYS,
    ...(role === "service" ? ["wasi:http/types"] : []),
    ...(grants.clocks ? CLOCKS : []),
    ...(grants.random ? RANDOM : []),
    ...NETWORK.flatMap(({ names, schemes }) => hasScheme(grants, ...schemes) ? names : []),
    ...(grants.spawn.length > 0 || role === "tool" ? [HOST] : []),
  ];
}

/**
 * The imports of a component that its grants do not link; empty means it may run. Of WASI any 0.2.x version is served by
 * one host, of `boll:capsule` 0.1.0; every other version, package or name is refused.
 */
export function checkImports(
  imports: readonly string[],
  grants: Grants,
  manifest?: Manifest,
  role: ComponentRole = "command",
): MissingImport[] {
  const linked = new Set(toImports(grants, role));
  return imports.flatMap((name) => {
    const [, unversioned, version] = /^([a-z][a-z0-9-]*:[a-z0-9-]+\/[a-z0-9-]+)(?:@(.{1,64}))?$/.exec(name) ?? [];
    if (unversioned === undefined) return [describeMissing(name, "", manifest)];
    const isHost = unversioned === HOST;
    const isServed = isHost
      ? version === HOST_VERSION
      : version === undefined || /^0\.2\.(0|[1-9]\d{0,3})$/.test(version);
    if (isServed && linked.has(unversioned)) return [];
    if (!isServed && (isHost || unversioned.startsWith("wasi:"))) {
      const provided = isHost ? `boll:capsule ${HOST_VERSION}` : "WASI 0.2.x";
      return [{ interface: printableLine(name, 200), reason: `only ${provided} is provided` }];
    }
    return [describeMissing(name, unversioned, manifest)];
  });
}

function describeMissing(name: string, unversioned: string, manifest?: Manifest): MissingImport {
  const shown = printableLine(name, 200);
  for (const [grant, names] of [["clocks", CLOCKS], ["random", RANDOM]] as const) {
    if (!names.includes(unversioned)) continue;
    const isOff = manifest?.grants[grant] === false;
    return {
      interface: shown,
      grant,
      ...lineOf(manifest, grant),
      reason: `it needs the grant ${grant}`,
      allow: isOff ? `"${grant}": true in grants` : `"${grant}": true in the ceiling of boll.jsonc`,
    };
  }
  for (const { names, schemes, entries, example } of NETWORK) {
    if (!names.includes(unversioned)) continue;
    // Declared and still not there: a ceiling or --no-net took it away.
    const isDeclared = hasScheme({ net: manifest?.grants.net ?? [] }, ...schemes);
    const line = manifest === undefined ? "" : ` or "net": ["${example}"] in grants`;
    return {
      interface: shown,
      grant: "net",
      ...lineOf(manifest, "net"),
      reason: `it needs the grant net, ${entries}`,
      allow: isDeclared ? "net in the ceiling of boll.jsonc, and no --no-net" : `--net ${example}${line}`,
    };
  }
  if (unversioned === HOST) return describeMissingHost(shown, manifest);
  return { interface: shown, reason: "boll does not provide it" };
}

/** No flag gives it: only a manifest names the capsules that its component delegates to. */
function describeMissingHost(shown: string, manifest: Manifest | undefined): MissingImport {
  const isDeclared = (manifest?.grants.spawn ?? []).length > 0;
  return {
    interface: shown,
    grant: "spawn",
    ...lineOf(manifest, "spawn"),
    reason: `it needs the grant spawn${manifest === undefined ? ", which only a manifest asks for" : ""}`,
    allow: isDeclared
      ? "spawn in the ceiling of boll.jsonc"
      : `"spawn": ["CAPSULE"] in grants${manifest === undefined ? " of a capsule.jsonc beside it" : ""}`,
  };
}

function lineOf(manifest: Manifest | undefined, grant: string): { manifestLine?: number } {
  return manifest === undefined ? {} : { manifestLine: manifest.positions.lineOf(`grants.${grant}`) };
}

const MAX_LISTED = 20;

/** The refusal of what {@link checkImports} found, before any guest instruction ran; `file` is the manifest's path. */
export function refuseImports(missing: readonly MissingImport[], file?: string): CapsuleError {
  const lines = missing.slice(0, MAX_LISTED).map((one) => {
    const line = one.manifestLine === undefined || file === undefined
      ? ""
      : ` (${printableLine(file)}:${one.manifestLine})`;
    return `${one.interface}: ${one.reason}${line}${one.allow === undefined ? "" : `; allow it with ${one.allow}`}`;
  });
  if (missing.length > MAX_LISTED) lines.push(`… and ${missing.length - MAX_LISTED} more`);
  const message = lines.length === 1
    ? `Link import ${lines[0]}`
    : `Link imports: found ${missing.length} that are not granted`;
  return new CapsuleError("grant.import_not_granted", message, { problems: lines });
}
