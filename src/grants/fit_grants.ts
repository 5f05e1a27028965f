import type { DeclaredGrants, DeclaredMount } from "../manifest/mod.ts";
import { completeGrants } from "./defaults.ts";
import { DEFAULT_LIMITS, type Grants, type Limits, type MountGrant } from "./grants.ts";
import { findAlias } from "./mounts.ts";
import { narrow } from "./narrow.ts";

/** One thing that a child asks for and its parent does not have. */
export interface Misfit {
  /** `fs.work`, `fs.mounts`, `env`, `net`, `spawn`, `stdio`, `clocks`, `random`, `limits`, … */
  readonly axis: string;
  /** Of that axis; the axis itself where it has no entries. */
  readonly entry: string;
  /** One sentence without its full stop. */
  readonly text: string;
}

/** What a child's grants are made from. */
export interface FitGrantsInput {
  /** The child's manifest; what it says of hosts counts for nothing, a child's folders are its parent's. */
  readonly declared: DeclaredGrants;
  /** Every mount bound. */
  readonly parent: Grants;
  /** The child's guest path → the parent's, where they differ. */
  readonly mounts?: Readonly<Record<string, string>>;
}

/** What {@link fitGrants} gives: the child's grants, or everything that does not fit. */
export type FittedGrants = { readonly grants: Grants } | { readonly misfits: readonly Misfit[] };

/**
 * A child's grants, which must fit inside its parent's on every axis; nothing is trimmed. A mount is bound to the
 * parent's whole mount of the same guest path, or the one that `mounts` names: a folder in it could be exchanged for a link
 * by whoever may write there. Limits that the manifest does not write, and the containment floor, are the stricter of both.
 */
export function fitGrants({ declared, parent, mounts = {} }: FitGrantsInput): FittedGrants {
  const wanted = declared.fs?.mounts ?? [];
  const misfits = strayMappings(wanted, mounts);
  const asked: MountGrant[] = [];
  const ceiling: MountGrant[] = [];
  for (const { guest, mode = "ro" } of wanted) {
    const from = Object.hasOwn(mounts, guest) ? mounts[guest]! : guest;
    const above = parent.fs.mounts.find((mount) => mount.guest === from);
    if (above?.host === undefined) misfits.push(unboundMisfit(guest, from));
    else {
      asked.push({ guest, mode, host: above.host });
      ceiling.push({ guest, mode: above.mode, host: above.host });
    }
  }
  const limits = stricterDefaults(parent.limits);
  const { grants, dropped } = narrow(
    completeGrants(declared, { limits, mounts: asked }),
    { ...parent, fs: { ...parent.fs, mounts: ceiling } },
  );
  misfits.push(...dropped.map(({ grant, text }) => misfitOf(grant, text)));
  if (misfits.length === 0) misfits.push(...aliasMisfits(grants.fs.mounts));
  return misfits.length === 0 ? { grants } : { misfits };
}

/** Defaults that are never more than the parent has: silence asks for nothing. */
function stricterDefaults(parent: Limits): Limits {
  const { memory_mb, deadline_ms, open_files, file_bytes, work_bytes } = DEFAULT_LIMITS;
  return {
    ...parent,
    memory_mb: Math.min(memory_mb, parent.memory_mb),
    deadline_ms: Math.min(deadline_ms, parent.deadline_ms),
    open_files: Math.min(open_files, parent.open_files),
    file_bytes: Math.min(file_bytes, parent.file_bytes),
    work_bytes: Math.min(work_bytes, parent.work_bytes),
  };
}

function strayMappings(wanted: readonly DeclaredMount[], mounts: Readonly<Record<string, string>>): Misfit[] {
  return Object.keys(mounts).filter((guest) => !wanted.some((mount) => mount.guest === guest)).map((guest) => ({
    axis: "fs.mounts",
    entry: guest,
    text: `the capsule declares no mount ${guest} that a folder could be bound to`,
  }));
}

function unboundMisfit(guest: string, from: string): Misfit {
  const text = guest === from
    ? `the mount ${guest}: no mount of the parent has that guest path, and no other one is named for it`
    : `the mount ${guest}: the parent has no mount ${from} (a whole mount, not a folder in one)`;
  return { axis: "fs.mounts", entry: guest, text };
}

/** A dropped grant is named `axis`, `axis:entry` or `limits.entry`. */
function misfitOf(grant: string, text: string): Misfit {
  const limit = /^(limits)\.(.*)$/.exec(grant);
  const [, axis = grant, entry = axis] = limit ?? /^([^:]*):(.*)$/s.exec(grant) ?? [];
  return { axis, entry, text };
}

/** By the names that the guests know: where on the host it is, is not theirs to read. */
function aliasMisfits(mounts: readonly MountGrant[]): Misfit[] {
  const { ro, rw } = findAlias(mounts) ?? {};
  if (ro === undefined || rw === undefined) return [];
  const text = `the mount ${ro.guest}, which is ro: it can be written through ${rw.guest}`;
  return [{ axis: "fs.mounts", entry: ro.guest, text }];
}
