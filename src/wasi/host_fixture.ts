import { Descriptor } from "./files/descriptor.ts";
import type { Denial, HostLimits, WasiHost, WasiOptions } from "./host.ts";
import { createWasi } from "./host.ts";
import { closedSink, closedSource } from "./stdio.ts";
import { symlinkInside } from "./files/symlink_inside.ts";

/** Limits that no test reaches by accident. */
export const WIDE_LIMITS: HostLimits = { openFiles: 256, fileBytes: 2 ** 32, workBytes: 2 ** 33 };

/** A host over a fresh folder: `root` is granted twice, as `rw` and as `ro`; `outside` lies beside it. */
export interface HostFixture extends Disposable {
  readonly wasi: WasiHost;
  readonly rw: Descriptor;
  readonly ro: Descriptor;
  /** A second granted folder, `rw`. */
  readonly other: Descriptor;
  readonly root: string;
  readonly otherRoot: string;
  readonly outside: string;
  readonly denials: Denial[];
}

/** Options of a host that can do nothing, to be overridden. */
export function bareOptions(options: Partial<WasiOptions> = {}): WasiOptions {
  return {
    args: [],
    env: [],
    preopens: [],
    stdin: closedSource(),
    stdout: closedSink(),
    stderr: closedSink(),
    terminal: { stdin: false, stdout: false, stderr: false },
    interfaces: { clocks: true, random: true },
    limits: WIDE_LIMITS,
    onDenied: () => {},
    makeSymlink: () => {},
    ...options,
  };
}

/** Makes the folders, the host and its descriptors; disposing removes all of them. */
export function openFixture(options: Partial<WasiOptions> = {}): HostFixture {
  const top = Deno.realPathSync(Deno.makeTempDirSync());
  const [root, otherRoot, outside] = [`${top}/root`, `${top}/other`, `${top}/outside`];
  for (const folder of [root, otherRoot, outside]) Deno.mkdirSync(folder);
  Deno.writeTextFileSync(`${outside}/secret`, "secret");
  const preopens = [
    { guest: "/rw", host: root, mode: "rw" },
    { guest: "/ro", host: root, mode: "ro" },
    { guest: "/other", host: otherRoot, mode: "rw" },
  ] as const;
  const denials: Denial[] = [];
  const wasi = createWasi(bareOptions({
    preopens,
    onDenied: (denial) => denials.push(denial),
    makeSymlink: (place) => symlinkInside(preopens, place),
    ...options,
  }));
  const [rw, ro, other] = preopenDescriptors(wasi) as [Descriptor, Descriptor, Descriptor];
  return {
    wasi,
    rw,
    ro,
    other,
    root,
    otherRoot,
    outside,
    denials,
    [Symbol.dispose]() {
      wasi.close();
      Deno.removeSync(top, { recursive: true });
    },
  };
}

/** What `get-directories` gives, without the names. */
export function preopenDescriptors(wasi: WasiHost): Descriptor[] {
  const getDirectories = wasi.imports["wasi:filesystem/preopens"]!["getDirectories"] as () => [Descriptor, string][];
  return getDirectories().map(([descriptor]) => descriptor);
}

/** The value that `act` throws, which is how the glue takes an error. @throws Error when it throws none. */
export function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("Expected a refusal: it was allowed");
}

/** Reads a whole file through a descriptor. */
export function readText(folder: Descriptor, path: string, follow = true): string {
  const file = folder.openAt({ symlinkFollow: follow }, path, {}, { read: true });
  try {
    return new TextDecoder().decode(file.read(1_048_576n, 0n)[0]);
  } finally {
    file[Symbol.dispose]();
  }
}

/** Makes or replaces a file through a descriptor. */
export function writeText(folder: Descriptor, path: string, text: string): void {
  const file = folder.openAt({}, path, { create: true, truncate: true }, { write: true });
  try {
    file.write(new TextEncoder().encode(text), 0n);
  } finally {
    file[Symbol.dispose]();
  }
}
