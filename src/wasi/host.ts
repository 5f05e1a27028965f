import { cliImports, type Stdio } from "./cli.ts";
import { clockImports } from "./clocks.ts";
import type { LimitReached } from "./endings.ts";
import { FileHost } from "./files/file_host.ts";
import { filesystemImports } from "./files/filesystem.ts";
import { ioImports, sourceReadiness } from "./io.ts";
import type { NetworkLink } from "./network.ts";
import { randomImports } from "./random.ts";
import { countedSink, Usage } from "./usage.ts";
import type { MountMode } from "../grants/mod.ts";
import type { ByteSink, ByteSource } from "./ports.ts";

/** One granted folder: `host` (absolute, real) appears as `guest` (absolute). */
export interface Preopen {
  readonly guest: string;
  readonly host: string;
  readonly mode: MountMode;
}

/** A link that the guest asks for, already checked once: `path` and `target` are relative, without a way out. */
export interface SymlinkPlace {
  /** Index into the preopens. */
  readonly preopen: number;
  /** Where the link goes, relative to the preopen; every part before the last is a real folder. */
  readonly path: string;
  /** What it says. */
  readonly target: string;
}

/** Something a guest asked for and did not get: which grant, what it wanted, what would allow it. */
export interface Denial {
  readonly grant: string;
  readonly asked: string;
  readonly allow: string;
}

/** Limits that the host counts itself. */
export interface HostLimits {
  readonly openFiles: number;
  /** Largest size of one file, bytes. */
  readonly fileBytes: number;
  /** Bytes written to files in all. */
  readonly workBytes: number;
  /** Bytes of stdout and stderr together; absent is none. */
  readonly outputBytes?: number;
}

/** Options of {@link createWasi}. */
export interface WasiOptions {
  readonly args: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly preopens: readonly Preopen[];
  readonly stdin: ByteSource;
  readonly stdout: ByteSink;
  readonly stderr: ByteSink;
  readonly terminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  readonly cwd?: string;
  /** Interfaces that are linked only when granted. */
  readonly interfaces: { readonly clocks: boolean; readonly random: boolean };
  readonly limits: HostLimits;
  /** The way to the network, opened by `network.ts`; absent is none, and neither `wasi:http` nor `wasi:sockets`. */
  readonly network?: NetworkLink;
  /** `boll:capsule/host`, made by `delegation.ts`; absent: nothing is delegated. */
  readonly delegation?: Record<string, Record<string, unknown>>;
  onDenied(denial: Denial): void;
  /** Port: the cell's main thread makes the link with `symlinkInside`. Throws the WASI error code as a string. */
  makeSymlink(place: SymlinkPlace): void;
}

/** What {@link createWasi} gives. */
export interface WasiHost {
  /** Host objects by unversioned interface name, in the shape that transpiled components import. */
  readonly imports: Record<string, Record<string, unknown>>;
  /** Did the reader of stdout go away (EPIPE)? */
  stdoutClosed(): boolean;
  /** Bytes written to files so far. */
  bytesWritten(): number;
  /** Bytes written to stdout and stderr so far. */
  outputBytes(): number;
  /** The limit that ends the run, if it was reached, whatever the guest made of it. */
  limitReached(): LimitReached["limit"] | undefined;
  /** Closes every file that the guest left open. */
  close(): void;
  /** The guest has ended well: settles when what it wrote to sockets has gone out, or after a while. Then none is open. */
  settle(): Promise<void>;
  /** The guest is gone, whatever it was at: closes every connection, listener and socket at once. */
  cut(): void;
}

/**
 * Makes the WASI 0.2 host of one run. Interfaces that are not granted are absent. The objects
 * have no prototype, so that no import name of a component finds anything but an interface.
 */
export function createWasi(options: WasiOptions): WasiHost {
  const usage = new Usage(options.limits);
  const host = new FileHost(options, usage);
  const { network } = options;
  const imports = {
    ...cliImports(options, stdioOf(options, usage)),
    ...ioImports(),
    ...filesystemImports(host),
    ...(options.interfaces.clocks ? clockImports() : {}),
    ...(options.interfaces.random ? randomImports() : {}),
    ...network?.imports,
    ...options.delegation,
  };
  return {
    imports: bare(Object.entries(imports).map(([name, functions]) => [name, bare(Object.entries(functions))])),
    stdoutClosed: () => usage.stdoutClosed,
    bytesWritten: () => usage.bytesWritten,
    outputBytes: () => usage.outputBytes,
    limitReached: () => usage.limitReached,
    close: () => host.close(),
    settle: async () => await network?.settle(),
    cut: () => network?.cut(),
  };
}

function stdioOf(options: WasiOptions, usage: Usage): Stdio {
  const { stdin } = options;
  return {
    stdin: {
      read: (maxBytes) => stdin.read(maxBytes),
      blockingRead: (maxBytes) => stdin.blockingRead(maxBytes),
      ready: () => stdin.ready(),
      wait: () => stdin.wait(),
      readiness: sourceReadiness(stdin),
    },
    stdout: countedSink(options.stdout, usage, true),
    stderr: countedSink(options.stderr, usage, false),
  };
}

function bare<T>(entries: readonly (readonly [string, T])[]): Record<string, T> {
  const object: Record<string, T> = Object.create(null);
  for (const [name, value] of entries) object[name] = value;
  return Object.freeze(object);
}
