import { join } from "@std/path";
import { CapsuleError, printableLine } from "../base/mod.ts";
import type { Capsule, DeclaredMount, TrustedWorkspace, Workspace } from "../manifest/mod.ts";
import { completeGrants, NO_LIMITS } from "./defaults.ts";
import type { OperatorFlags } from "./flags.ts";
import { DEFAULT_LIMITS, type Grants, type MountGrant } from "./grants.ts";
import { bindMounts, checkAliases, refuseUnbound, resolveFolder, type UnboundMount } from "./mounts.ts";
import { canonicalNet } from "./net_entry.ts";
import { narrow } from "./narrow.ts";
import { checkReach, gatherProtection, type ProtectedPlaces } from "./protect.ts";

/** Everything that decides a run's grants. */
export interface ResolveGrantsInput {
  readonly capsule: Capsule;
  /** Whether the capsule is the operator's own (`Trust.isOwn`). */
  readonly own: boolean;
  /** Every `boll.jsonc` above the capsule, nearest first: their ceilings all apply, trusted or not. */
  readonly workspaces: readonly Workspace[];
  /** `Trust.trustedWorkspaces()`: their files and globs are out of reach. */
  readonly trusted: readonly TrustedWorkspace[];
  readonly flags: OperatorFlags;
  readonly places: ProtectedPlaces;
  /** Reads one variable of the operator's environment. */
  readonly readEnv: (name: string) => string | undefined;
  /** `list` (for `boll explain`) keeps mounts that nothing binds apart instead of refusing them. Default `refuse`. */
  readonly unbound?: "refuse" | "list";
}

/** A run's whole authority. */
export interface ResolvedGrants {
  /** Mounts bound to real paths. */
  readonly grants: Grants;
  /** Values of `grants.env`; a name that is not set is absent. Never recorded. */
  readonly envValues: Readonly<Record<string, string>>;
  /** The real path of `--work`; absent means the session's own work folder. */
  readonly work?: string;
  /** What was asked and dropped, one sentence each. */
  readonly warnings: readonly string[];
  /** Present where a ceiling or a flag took something that the manifest asks for: what is left is not all that it may get one day. */
  readonly isNarrowed?: true;
  /** Declared mounts that nothing binds; empty unless `unbound` is `list`. */
  readonly unbound: readonly UnboundMount[];
}

/**
 * Decides a run's grants: the manifest's (a bare component has none), with what the operator typed, bound, then narrowed
 * below every ceiling, then checked against boll's own files. A ceiling never binds a mount: binding comes first.
 *
 * @throws {CapsuleError} `grant.unbound_mount`, `grant.bad_mount`, `grant.protected_path`, `grant.exceeds_ceiling`.
 */
export function resolveGrants(input: ResolveGrantsInput): ResolvedGrants {
  const { capsule, flags } = input;
  const { bound, unbound } = bindMounts(capsule, { own: input.own, flags: flags.mounts ?? [] });
  if (unbound.length > 0 && input.unbound !== "list") throw refuseUnbound(capsule, unbound);
  const work = flags.work === undefined ? undefined : resolveFolder(flags.work, "--work");
  const asked = applyFlags(capsule, bound, flags);
  const warnings: string[] = [];
  const grants = input.workspaces.reduce((above, workspace) => narrowBelow(above, workspace, input, warnings), asked);
  const isNarrowed = warnings.length > 0 || areHeldBack(capsule, flags);
  checkPlaces(grants, work, input);
  const envValues = readValues(grants, input, warnings);
  return {
    grants,
    envValues,
    ...(work === undefined ? {} : { work }),
    warnings,
    ...(isNarrowed ? { isNarrowed } : {}),
    unbound,
  };
}

/** Whether the operator's flags leave out what the manifest asks for; limits aside. */
function areHeldBack({ manifest }: Capsule, { noNet, mounts = [] }: OperatorFlags): boolean {
  const { net = [], fs } = manifest?.grants ?? {};
  const isReadOnly = (guest: string) => mounts.some((flag) => flag.guest === guest && flag.mode === "ro");
  return (noNet === true && net.length > 0) ||
    (fs?.mounts ?? []).some(({ guest, mode }) => mode === "rw" && isReadOnly(guest));
}

/** Flags add mounts, variables, network entries and the work folder; limits they only narrow below what the manifest writes. */
function applyFlags(capsule: Capsule, mounts: readonly MountGrant[], flags: OperatorFlags): Grants {
  checkLimit(capsule, { flag: "--memory", asked: flags.memoryMb, limit: "memory_mb" });
  checkLimit(capsule, { flag: "--deadline", asked: flags.deadlineMs, limit: "deadline_ms" });
  const declared = completeGrants(capsule.manifest?.grants ?? {}, { limits: DEFAULT_LIMITS, mounts });
  const work = declared.fs.work ?? (flags.work === undefined ? undefined : "rw");
  const floors = [declared.containment, flags.containment];
  const containment = floors.includes("scoped") ? "scoped" : floors.includes("advisory") ? "advisory" : undefined;
  return {
    ...declared,
    fs: { mounts, ...(work === undefined ? {} : { work }) },
    env: [...new Set([...declared.env, ...(flags.env ?? []).map(({ name }) => name)])],
    net: flags.noNet ? [] : canonicalNet([...declared.net, ...(flags.net ?? [])]),
    clocks: declared.clocks || flags.clocks === true,
    random: declared.random || flags.random === true,
    limits: {
      ...declared.limits,
      ...(flags.memoryMb === undefined ? {} : { memory_mb: flags.memoryMb }),
      ...(flags.deadlineMs === undefined ? {} : { deadline_ms: flags.deadlineMs }),
    },
    ...(containment === undefined ? {} : { containment }),
  };
}

function checkLimit(
  { manifest, manifestPath }: Capsule,
  { flag, asked, limit }: {
    readonly flag: string;
    readonly asked: number | undefined;
    readonly limit: "memory_mb" | "deadline_ms";
  },
): void {
  const allowed = manifest?.grants.limits?.[limit];
  if (manifest === undefined || asked === undefined || allowed === undefined || asked <= allowed) return;
  const line = manifest.positions.lineOf(`grants.limits.${limit}`);
  throw new CapsuleError(
    "grant.exceeds_ceiling",
    `Set ${flag} to ${asked}: a flag may only narrow, and ${limit} is ${allowed} (${
      printableLine(manifestPath ?? "")
    }:${line})`,
  );
}

/** What the operator typed and a ceiling forbids is refused; what a manifest asked for is dropped with a warning. */
function narrowBelow(
  grants: Grants,
  workspace: Workspace,
  { capsule, flags }: ResolveGrantsInput,
  warnings: string[],
): Grants {
  if (workspace.ceiling === undefined) return grants;
  const { grants: narrowed, dropped } = narrow(grants, readCeiling(workspace));
  const where = `${printableLine(workspace.path)}:${workspace.positions.lineOf("ceiling")}`;
  const typed = typedGrants(flags);
  const written = capsule.manifest?.grants.limits ?? {};
  for (const { grant, text } of dropped) {
    if (typed.has(grant)) {
      throw new CapsuleError(
        "grant.exceeds_ceiling",
        `Grant ${printableLine(text)}: the ceiling of ${where} does not allow it`,
      );
    }
    const isDefault = grant.startsWith("limits.") && !Object.hasOwn(written, grant.slice("limits.".length));
    if (!isDefault) warnings.push(`Dropped ${text}: the ceiling of ${where} does not allow it`);
  }
  return narrowed;
}

function typedGrants(flags: OperatorFlags): ReadonlySet<string> {
  return new Set([
    ...(flags.mounts ?? []).map(({ guest }) => `fs.mounts:${guest}`),
    ...(flags.env ?? []).map(({ name }) => `env:${name}`),
    ...(flags.net ?? []).map((entry) => `net:${entry}`),
    ...(flags.work === undefined ? [] : ["fs.work"]),
    ...(flags.clocks === undefined ? [] : ["clocks"]),
    ...(flags.random === undefined ? [] : ["random"]),
    ...(flags.memoryMb === undefined ? [] : ["limits.memory_mb"]),
    ...(flags.deadlineMs === undefined ? [] : ["limits.deadline_ms"]),
  ]);
}

/** A ceiling as grants: limits it does not name bind nothing; a mount without `host` allows any folder there. */
function readCeiling({ root, ceiling = {} }: Workspace): Grants {
  const mounts = (ceiling.fs?.mounts ?? []).flatMap((mount) => readCeilingMount(root, mount));
  return completeGrants(ceiling, { limits: NO_LIMITS, mounts });
}

function readCeilingMount(root: string, { guest, host, mode = "ro" }: DeclaredMount): MountGrant[] {
  if (host === undefined) return [{ guest, mode }];
  try {
    return [{ guest, mode, host: Deno.realPathSync(host.startsWith("/") ? host : join(root, host)) }];
  } catch {
    // A folder that is not there allows nothing.
    return [];
  }
}

function checkPlaces(grants: Grants, work: string | undefined, input: ResolveGrantsInput): void {
  const mode = grants.fs.work;
  const places = [
    ...grants.fs.mounts,
    ...(work === undefined || mode === undefined ? [] : [{ guest: "/workdir", mode, host: work }]),
  ];
  const protection = gatherProtection(input);
  for (const place of places) {
    const asked = `${place.host}:${place.guest}:${place.mode}`;
    checkReach({ host: place.host!, mode: place.mode, asked }, protection);
  }
  checkAliases(places);
}

function readValues(
  grants: Grants,
  { flags, readEnv }: ResolveGrantsInput,
  warnings: string[],
): Record<string, string> {
  // No prototype: `__proto__` is a legal name of a variable.
  const values: Record<string, string> = Object.create(null);
  for (const name of grants.env) {
    const flag = (flags.env ?? []).findLast((one) => one.name === name);
    const value = flag?.value ?? readEnv(name);
    if (value !== undefined) values[name] = value;
    else if (flag !== undefined) warnings.push(`The variable ${name} is not set, so the guest does not see it`);
  }
  return values;
}
