import { CapsuleError, type Containment, printableLine } from "../base/mod.ts";
import { isCredentialName, normalizeGuestPath, parseNetEntry } from "../manifest/mod.ts";
import type { MountMode } from "./grants.ts";

/** `--mount HOST:GUEST[:ro|rw]`; `mode` absent when not typed (the manifest's mode, else ro). */
export interface MountFlag {
  readonly host: string;
  readonly guest: string;
  readonly mode?: MountMode;
}

/** `--env NAME[=VALUE]`; `value` absent means the operator's own environment. */
export interface EnvFlag {
  readonly name: string;
  readonly value?: string;
}

/** What the operator typed. It adds (mounts, env, net, work) and narrows (the rest). */
export interface OperatorFlags {
  readonly mounts?: readonly MountFlag[];
  readonly env?: readonly EnvFlag[];
  /** `--net ENTRY`, in canonical form. */
  readonly net?: readonly string[];
  /** `--no-net`: no network, whatever the manifest says. */
  readonly noNet?: boolean;
  readonly deadlineMs?: number;
  readonly memoryMb?: number;
  readonly containment?: Containment;
  /** `--work DIR`: the folder that appears at `/workdir`. */
  readonly work?: string;
  /** The operator's yes to interfaces that the manifest switches off (`--ask`). */
  readonly clocks?: true;
  readonly random?: true;
}

/**
 * Reads the value of `--mount`. HOST may hold colons, GUEST may not; GUEST comes back normalised.
 * @throws {CapsuleError} `usage.bad_value`
 */
export function parseMountFlag(text: string): MountFlag {
  const refuse = (why: string) =>
    new CapsuleError(
      "usage.bad_value",
      `Read --mount ${
        printableLine(JSON.stringify(text), 200)
      }: ${why}; wanted HOST:GUEST[:ro|rw], as in ./docs:/data:ro`,
    );
  const mode = /:(ro|rw)$/.exec(text)?.[1];
  const rest = mode === undefined ? text : text.slice(0, -3);
  const split = rest.lastIndexOf(":/");
  if (split === -1) throw refuse("found no absolute guest path");
  const host = rest.slice(0, split);
  if (host === "") throw refuse("found no host folder");
  if (host.includes("\0")) throw refuse("found a NUL character");
  let guest: string;
  try {
    guest = normalizeGuestPath(rest.slice(split + 1));
  } catch (error) {
    if (!(error instanceof CapsuleError)) throw error;
    throw refuse(error.message);
  }
  return { host, guest, ...(mode === "ro" || mode === "rw" ? { mode } : {}) };
}

const MAX_VALUE_LENGTH = 128 * 1024;

/**
 * Reads the value of `--env`. The value is never in a message.
 * @throws {CapsuleError} `usage.bad_value`, also for a name that usually holds a credential
 */
export function parseEnvFlag(text: string): EnvFlag {
  const equals = text.indexOf("=");
  const name = equals === -1 ? text : text.slice(0, equals);
  const refuse = (why: string) =>
    new CapsuleError("usage.bad_value", `Read --env ${printableLine(JSON.stringify(name), 80)}: ${why}`);
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name)) throw refuse("wanted NAME or NAME=VALUE");
  if (isCredentialName(name)) throw refuse("a variable of this name holds a credential, and no guest may see one");
  if (equals === -1) return { name };
  const value = text.slice(equals + 1);
  if (value.includes("\0")) throw refuse("the value holds a NUL character");
  if (value.length > MAX_VALUE_LENGTH) throw refuse(`the value is longer than ${MAX_VALUE_LENGTH} characters`);
  return { name, value };
}

/**
 * Reads the value of `--net`; it comes back in its canonical form.
 * @throws {CapsuleError} `usage.bad_value`
 */
export function parseNetFlag(text: string): string {
  try {
    return parseNetEntry(text).text;
  } catch (error) {
    if (!(error instanceof CapsuleError)) throw error;
    throw new CapsuleError("usage.bad_value", `Read --net: ${error.message}`);
  }
}
