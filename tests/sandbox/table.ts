/**
 * The table of escapes: for each attempt, which wall stops it *alone*, with the others off, and why, or why it cannot.
 * The tests hold it to be true in both directions; `docs/walls.md` prints it.
 * @module
 */
import type { Attempt } from "./attempt.ts";
import * as files from "./file_attempts.ts";
import * as kernel from "./kernel_attempts.ts";
import * as limits from "./limit_attempts.ts";
import * as processes from "./process_attempts.ts";
import * as races from "./race_attempts.ts";
import * as readOnly from "./read_only_attempts.ts";
import * as special from "./special_attempts.ts";

/** What one wall does against one attempt. */
export interface Verdict {
  readonly holds: boolean;
  readonly why: string;
}

/** One row of the table. */
export interface Escape {
  readonly name: string;
  readonly attempt: Attempt;
  /** Walls 1 to 4. */
  readonly walls: readonly [Verdict, Verdict, Verdict, Verdict];
  /** Wall 1 too is tried by code in the guest's thread: that is what the attempt is about. */
  readonly beyondWallOne?: true;
  /** Why only one of the walls can see it. */
  readonly onlyOne?: string;
}

/** What the four walls are called. */
export const WALL_NAMES = ["1 imports", "2 permissions", "3 process", "4 kernel"] as const;

const holds = (why: string): Verdict => ({ holds: true, why });
const cannot = (why: string): Verdict => ({ holds: false, why });

const SAME_USER = cannot("the cell is the same user");

/** The first twelve and what came after them; one is several rows where its parts end at different walls. */
export const ESCAPES: readonly Escape[] = [
  {
    name: "read `/etc/shadow`",
    attempt: files.systemFile,
    walls: [holds("no preopen leads there"), holds("not in the read list"), SAME_USER, holds("no Landlock rule")],
  },
  {
    name: "boll's own trust, records and cached code",
    attempt: files.ownFiles,
    walls: [
      holds("no mount may reach them"),
      holds("not in the lists"),
      SAME_USER,
      holds("read its own code, no more"),
    ],
  },
  {
    name: "folders of another session, of another cell",
    attempt: files.otherFolders,
    walls: [holds("no mount may reach them"), holds("not in the lists"), SAME_USER, holds("no Landlock rule")],
  },
  {
    name: "`..` above a granted folder",
    attempt: files.dots,
    walls: [
      holds("the walk may not leave its preopen at any step"),
      holds("paths are normalised, then matched"),
      SAME_USER,
      holds("no Landlock rule"),
    ],
  },
  {
    name: "an absolute host path",
    attempt: files.absolutePath,
    walls: [holds("no guest path is absolute"), holds("not in the lists"), SAME_USER, holds("no Landlock rule")],
  },
  {
    name: "a link planted before the run",
    attempt: files.plantedLink,
    walls: [
      holds("each link is read and walked, none is left to the host"),
      cannot("Deno matches the link's own path and follows it"),
      SAME_USER,
      holds("the kernel judges where a link leads"),
    ],
  },
  {
    name: "a link made by the guest",
    attempt: files.madeLink,
    walls: [
      holds("a target that leaves is refused, also by the cell's main thread, and at each later walk"),
      cannot("the guest's thread may not make links, but follows what the main thread makes for it"),
      SAME_USER,
      holds("it may be made; the kernel judges where it leads"),
    ],
  },
  {
    name: "a link swapped during the walk",
    attempt: races.swappedLink,
    walls: [
      holds("what is open must be what was looked at, before a byte is read, written or cut"),
      cannot("Deno matches the link's own path and follows it"),
      SAME_USER,
      holds("the kernel judges what it opens"),
    ],
  },
  {
    name: "a folder swapped during the walk",
    attempt: races.swappedFolder,
    onlyOne: "between the look at a folder and its use only the kernel is",
    walls: [
      cannot("Deno has no way to open below a folder that is held"),
      cannot("Deno matches the path and follows it"),
      SAME_USER,
      holds("the kernel judges what it opens"),
    ],
  },
  {
    name: "a hard link across the border",
    attempt: files.hardLink,
    walls: [
      holds("both names must be in writable mounts"),
      holds("needs read and write at both names"),
      SAME_USER,
      holds("a file may not gain rights by a new name"),
    ],
  },
  {
    name: "a rename across the border",
    attempt: files.renameAcross,
    walls: [
      holds("both names must be in writable mounts"),
      holds("needs write at both names"),
      SAME_USER,
      holds("a file may not gain rights by a new name"),
    ],
  },
  {
    name: "`/proc/self/cwd`, `/proc/self/root`",
    attempt: processes.procFolders,
    walls: [
      holds("absolute, and so is what these links say"),
      holds("Deno leaves `/proc` to nobody; no libc"),
      SAME_USER,
      holds("no Landlock rule"),
    ],
  },
  {
    name: "`/proc/self/fd`, what the caller had open",
    attempt: processes.procDescriptors,
    walls: [
      holds("no import takes a number"),
      cannot("Deno has an internal operation that takes any"),
      holds("closed before the cell is started"),
      cannot("Landlock judges opening, not what is open"),
    ],
  },
  {
    name: "`/proc` of the cell and its parent, `/sys`, `/dev`",
    attempt: processes.kernelFiles,
    walls: [
      holds("no preopen leads there"),
      holds("Deno leaves them to nobody; no libc"),
      SAME_USER,
      holds("no Landlock rule"),
    ],
  },
  {
    name: "a device, a FIFO or a socket in a mount",
    attempt: special.specialFiles,
    onlyOne: "who granted the folder granted what lies in it; only the host looks at the kind",
    walls: [
      holds("opens regular files and folders; looks before, and again at the handle"),
      cannot("Deno asks for the path, not for the kind"),
      SAME_USER,
      cannot("Landlock judges names, not kinds"),
    ],
  },
  {
    name: "make a device, a FIFO or a socket",
    attempt: special.madeSpecial,
    walls: [
      holds("no import does that"),
      cannot("a folder to write in is one to listen in"),
      SAME_USER,
      holds("seccomp refuses; Landlock: no such right"),
    ],
  },
  {
    name: "a set-uid program in a writable mount",
    attempt: special.lentRights,
    walls: [
      holds("no import sets a mode"),
      cannot("Deno changes the mode of what may be written"),
      SAME_USER,
      holds("seccomp refuses modes that lend rights"),
    ],
  },
  {
    name: "write to a read-only mount, every flag",
    attempt: readOnly.writeReadOnly,
    walls: [
      holds("each writing call and flag asks the mount's mode"),
      holds("not in the write list"),
      SAME_USER,
      holds("its Landlock rule is to read"),
    ],
  },
  {
    name: "mode of a file in a read-only mount",
    attempt: readOnly.modeOfReadOnly,
    walls: [
      holds("no import does that"),
      cannot("Deno asks nothing where a handle to read is at hand"),
      SAME_USER,
      holds("seccomp refuses"),
    ],
  },
  {
    name: "times of a file in a read-only mount",
    attempt: readOnly.timesOfReadOnly,
    walls: [
      holds("asks the mount's mode"),
      holds("needs write at the file's name"),
      SAME_USER,
      cannot("Linux asks for no right to the open file; refused only where nothing is writable"),
    ],
  },
  {
    name: "start another program",
    attempt: processes.exec,
    walls: [
      holds("no such import; one that is asked for is refused before the run"),
      holds("no run, no ffi"),
      SAME_USER,
      holds("seccomp: threads only; Landlock: nothing to execute"),
    ],
  },
  {
    name: "the environment that boll was started with",
    attempt: processes.inheritedEnvironment,
    walls: [
      holds("`wasi:cli/environment` has the granted names"),
      cannot("Deno has an internal operation that asks nothing"),
      holds("cleared; granted values are never in it"),
      cannot("it is the process's own memory"),
    ],
  },
  {
    name: "the parent's environment, arguments, memory",
    attempt: processes.parentProcess,
    walls: [
      holds("the guest's own arguments alone"),
      holds("Deno leaves `/proc` to nobody; no libc"),
      SAME_USER,
      holds("no Landlock rule; seccomp: no other process"),
    ],
  },
  {
    name: "`import()` of a file outside, by code in the guest's thread",
    attempt: processes.importOutside,
    beyondWallOne: true,
    onlyOne: "the loader is the runtime's own",
    walls: [
      cannot("a component has no such `import()`; this code is past that"),
      cannot("in an executable Deno's loader asks no permission"),
      SAME_USER,
      holds("no Landlock rule"),
    ],
  },
  {
    name: "other processes: signals, tracing, memory, limits",
    attempt: kernel.otherProcesses,
    walls: [holds("no such import"), holds("no run, no ffi"), SAME_USER, holds("seccomp: no other process")],
  },
  {
    name: "a fork bomb: fork, vfork, clone, clone3",
    attempt: kernel.forks,
    walls: [
      holds("no such import"),
      holds("no run, no ffi"),
      cannot("Linux counts the processes of a user, not of a process"),
      holds("seccomp: threads only"),
    ],
  },
  {
    name: "a thread bomb, by clone",
    attempt: kernel.threads,
    walls: [
      holds("no such import"),
      holds("no ffi; a thread of the runtime's own costs memory"),
      cannot("Linux counts the threads of a user, not of a process"),
      cannot("the runtime needs threads"),
    ],
  },
  {
    name: "namespaces, mounts, another root",
    attempt: kernel.namespaces,
    walls: [holds("no such import"), holds("no ffi"), SAME_USER, holds("seccomp refuses")],
  },
  {
    name: "sockets of other kinds: netlink, packets, raw",
    attempt: kernel.otherSockets,
    walls: [holds("no such import"), holds("no ffi"), SAME_USER, holds("seccomp: none")],
  },
  {
    name: "bpf, io_uring, userfaultfd, keys, handles, counters",
    attempt: kernel.kernelSurface,
    walls: [holds("no such import"), holds("no ffi"), SAME_USER, holds("seccomp refuses")],
  },
  {
    name: "another user, more rights, other limits",
    attempt: kernel.identity,
    walls: [holds("no such import"), holds("no ffi"), SAME_USER, holds("seccomp refuses; no_new_privs")],
  },
  {
    name: "type into the terminal, take it over: TIOCSTI, TIOCLINUX",
    attempt: kernel.terminalCommands,
    walls: [holds("no such import"), holds("no ffi"), SAME_USER, holds("seccomp: its size and modes, no more")],
  },
  {
    name: "the machine: modules, kernel, clock, name, disks, end",
    attempt: kernel.machine,
    walls: [holds("no such import"), holds("no ffi"), SAME_USER, holds("seccomp refuses")],
  },
  {
    name: "the folder and the mask of the whole process",
    attempt: special.processState,
    walls: [
      holds("no such import"),
      cannot("a folder to read is one to go to"),
      SAME_USER,
      holds("seccomp: refused; a mask is not taken"),
    ],
  },
  {
    name: "more open files than granted",
    attempt: limits.manyFiles,
    walls: [
      holds("counted"),
      cannot("its lists know no count"),
      holds("a limit of the process"),
      cannot("it counts nothing"),
    ],
  },
  {
    name: "a file longer than granted",
    attempt: limits.longFile,
    walls: [
      holds("compared"),
      cannot("its lists know no size"),
      holds("a limit of the process"),
      cannot("it counts nothing"),
    ],
  },
];
