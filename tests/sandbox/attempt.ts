/**
 * What an attempt to get out is made of. Routes are functions whose *text* is sent to the attacker: they close over
 * nothing. A route gives true when it got out, and anything else, or an error, when it did not.
 * @module
 */
import type { KernelCall } from "./kernel_calls.ts";

/** The host's paths that an attempt is about; what is `outside` is granted to nobody. */
export interface World {
  /** Holds `secret-0.txt` to `secret-9.txt`, `secret.json`, `secret.js` and the read-only mount `data`. */
  readonly outside: string;
  /**
   * Mounted read-only at `/data`: `a.txt`, `deep/b.txt`, `f0` to `f19`, `granted.json`, planted links, `planted-fifo`
   * and `planted-socket`; where root plants them also the devices `planted-zero` and `planted-disk`.
   */
  readonly data: string;
  /**
   * Mounted for writing at `/workdir`: `own.txt`, `own-1.txt`, `own-2.txt`; `swapped-file` and `swapped-link`, which says
   * `swapped.txt` outside; `swapped-folder` and `swapped-folder-link`, which says `swapped` outside.
   */
  readonly work: string;
  /** A file of the system that no capsule may see: `/etc/shadow` where the tests may read it at all. */
  readonly system: string;
  /** boll's own home: trust, cache, sessions; the one numbered zero is another's, and has `work/secret.txt` alone. */
  readonly home: string;
  /** Where cells have their own folders; another cell's is `other` with `secret.txt`. */
  readonly runtime: string;
  /** A process of the same user that has nothing to do with this run. */
  readonly bystander: number;
}

/** What every route may use. */
export interface Attacker {
  /** Tries again and again, whatever is thrown, until `attempt` gives true. */
  often(attempt: (round: number) => unknown): boolean;
  /** The same for what must succeed as soon as another process had its turn. */
  eventually(attempt: (round: number) => unknown): boolean;
}

/** A descriptor, as far as routes use it. */
export interface GuestFile {
  read(length: number, offset: number): readonly [Uint8Array, boolean];
  write(bytes: Uint8Array, offset: number): unknown;
  setSize(bytes: number): unknown;
}

/** What a guest's route may use: names that the probe binds. */
export interface Guest extends Attacker {
  readFile(path: string): string;
  writeFile(path: string, text: string): void;
  appendFile(path: string, text: string): void;
  open(path: string, options: Readonly<Record<string, boolean>>): unknown;
  /** Opens, acts, and drops the descriptor. */
  withFile<T>(path: string, options: Readonly<Record<string, boolean>>, act: (file: GuestFile) => T): T;
  makeFolder(path: string): void;
  removeFolder(path: string): void;
  removeFile(path: string): void;
  rename(from: string, to: string): void;
  link(from: string, to: string): void;
  symlink(target: string, path: string): void;
  setTimes(path: string, access: unknown, modification: unknown): void;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

/** What code in the guest's thread may use beside all of Deno's globals. */
export interface Injected extends Attacker {
  /** Calls a function of libc by name, where ffi lets it; throws when it says -1. */
  libc(name: string, ...values: (number | string | Uint8Array)[]): number;
  /** Makes a system call by name, where ffi lets it; throws when it says -1. */
  kernel(name: KernelCall, ...values: CallValue[]): number;
  /**
   * True when the kernel looks at what a call asks for, though it may find nothing to do; throws where the call is
   * refused (EPERM), and `absent` where this kernel has no such call.
   */
  reaches(name: KernelCall, ...values: CallValue[]): boolean;
  /** The address of bytes, to be put into what a call takes. */
  addressOf(bytes: Uint8Array): bigint;
  /** Deno's internal operations, as any code in the thread finds them. */
  readonly operations: Readonly<Record<string, (...values: unknown[]) => unknown>>;
  readonly env: readonly (readonly [string, string])[];
  /** Asks the cell's main thread for a link at `path` below the work folder. */
  askForLink(path: string, target: string): void;
  /** The folder of the component's own code in the cache. */
  readonly cache: string;
  /** The parent of this process. */
  readonly parent: number;
}

/** A number, text, or bytes whose address is passed. */
export type CallValue = number | string | Uint8Array | BigUint64Array;

/** One way to try, as a guest through WASI. */
export type GuestRoute = (guest: Guest, world: World) => unknown;

/** One way to try, as JavaScript in the guest's thread. */
export type InjectedRoute = (tools: Injected, world: World) => unknown;

/** An attempt: several routes to the same end, and for each attacker a twin that is allowed and must work. */
export interface Attempt {
  /** Another process swaps `swapped-file` and `swapped-folder` of the work folder meanwhile. */
  readonly isSwapped?: true;
  /** Empty where WASI has no call that could be tried. */
  readonly guest: Readonly<Record<string, GuestRoute>>;
  readonly guestTwin: GuestRoute;
  readonly injected: Readonly<Record<string, InjectedRoute>>;
  /** Further ways that only root has where no wall stands. */
  readonly asRoot?: Readonly<Record<string, InjectedRoute>>;
  /** Further ways that some hosts leave to nobody (their policy, their mount options), and others do. */
  readonly byHost?: Readonly<Record<string, InjectedRoute>>;
  /** Ways that the runtime itself leaves to nobody: refused whatever stands. */
  readonly runtimeRefuses?: Readonly<Record<string, InjectedRoute>>;
  readonly injectedTwin: InjectedRoute;
}
