import { achievedContainment, type HullCapabilities } from "./containment.ts";
import type { Grants, MountGrant } from "./grants.ts";
import { toImports } from "./imports.ts";
import { toHull, toPermissions, toProcess } from "./walls.ts";

/** One wall: what it binds for this run and what it does not. */
export interface WallExplanation {
  readonly wall: 1 | 2 | 3 | 4;
  readonly name: "imports" | "permissions" | "process" | "kernel";
  readonly up: boolean;
  readonly binds: readonly string[];
  readonly does_not_bind: readonly string[];
}

/** What {@link explainWalls} needs beside the grants. `work` names the work folder. */
export interface ExplainWallsOptions {
  readonly probe: HullCapabilities;
  readonly compiled: boolean;
  readonly work: string;
}

/** The four walls of a run on this host. */
export function explainWalls(grants: Grants, options: ExplainWallsOptions): readonly WallExplanation[] {
  const bound: Grants = { ...grants, fs: { ...grants.fs, mounts: grants.fs.mounts.filter(({ host }) => host) } };
  return [
    explainImports(bound),
    explainPermissions(bound, options),
    explainProcess(bound, options),
    explainKernel(bound, options),
  ];
}

function explainImports(grants: Grants): WallExplanation {
  const preopens = [...grants.fs.mounts, ...workOf(grants)].map(({ guest, mode }) => `${guest} (${mode})`);
  const { open_files, file_bytes, work_bytes, output_bytes } = grants.limits;
  return {
    wall: 1,
    name: "imports",
    up: true,
    binds: [
      `Linked interfaces, and no other: ${toImports(grants).join(", ")}`,
      `Files: ${preopens.length === 0 ? "none" : `only below ${preopens.join(", ")}`}`,
      `Variables: ${grants.env.length === 0 ? "none" : `only ${grants.env.join(", ")}`}`,
      ...(grants.stdio ? [] : ["stdin, stdout and stderr are closed"]),
      `Memory ${grants.limits.memory_mb} MiB, ${open_files} open files, ${file_bytes} bytes a file, ` +
      `${work_bytes} bytes written${output_bytes === undefined ? "" : `, ${output_bytes} bytes of output`}`,
    ],
    does_not_bind: [
      "What the guest does with files inside the folders it was given",
      "A guest that breaks out of the engine or finds a bug in this host: walls 2 to 4 stand behind",
      "A link swapped during a walk by another process: wall 4 stands behind",
    ],
  };
}

function explainPermissions(grants: Grants, { compiled, work }: ExplainWallsOptions): WallExplanation {
  const { read, write } = toPermissions(grants, { work });
  return {
    wall: 2,
    name: "permissions",
    up: true,
    binds: [
      `Reading: ${read === false ? "nothing" : read.join(", ")}`,
      `Writing: ${write === false ? "nothing" : write.join(", ")}`,
      "Network, variables, programs, libraries, system information, imports: nothing",
    ],
    does_not_bind: [
      "Links inside a granted folder, which Deno follows out of it: walls 1 and 4 stand there",
      ...(compiled ? ["import() of JavaScript and JSON files anywhere: wall 4 stands behind"] : []),
      ...(write === false ? [] : ["The cell's main thread, which keeps read and write so that links can be made"]),
    ],
  };
}

function explainProcess(grants: Grants, { compiled, probe }: ExplainWallsOptions): WallExplanation {
  const { dataBytes, cpuSeconds, fileBytes, openFiles } = toProcess(grants);
  const hasLimits = compiled && probe.os === "linux";
  const limits = [
    `Resource limits: ${dataBytes} bytes of data, ${openFiles} descriptors, ${fileBytes} bytes a file` +
    (cpuSeconds === undefined ? "" : `, ${cpuSeconds} s of CPU`),
    "Descriptors of the caller are closed, and the cell dies with its parent",
  ];
  return {
    wall: 3,
    name: "process",
    up: true,
    binds: [
      "A process of its own with a cleared environment and a private temporary folder",
      `It is killed after ${grants.limits.deadline_ms} ms`,
      ...(hasLimits ? limits : []),
    ],
    does_not_bind: [
      "Files and network: the process is the user's own",
      ...(cpuSeconds === undefined ? ["CPU time within the deadline"] : []),
      ...(hasLimits
        ? []
        : ["Resource limits, closed descriptors and death with the parent: only the executable on Linux"]),
    ],
  };
}

function explainKernel(grants: Grants, { compiled, probe, work }: ExplainWallsOptions): WallExplanation {
  const { achieved, reasons } = achievedContainment(probe, compiled);
  if (achieved !== "scoped") return { wall: 4, name: "kernel", up: false, binds: [], does_not_bind: reasons };
  const { read, write } = toHull(grants, { cache: "the component's cache folder", work });
  return {
    wall: 4,
    name: "kernel",
    up: true,
    binds: [
      `Landlock ABI ${probe.landlockAbi}, reading: ${read.join(", ")}`,
      `Landlock, reading and writing: ${write.length === 0 ? "nothing" : write.join(", ")}`,
      "seccomp on every thread: no programs, no new sockets, no signals, no other process, no change of modes or owners",
    ],
    does_not_bind: [
      "Whether a path exists, and its size and times: metadata of any file",
      "What is inside the granted folders, CPU and memory",
      "A bug in the kernel itself",
    ],
  };
}

function workOf(grants: Grants): MountGrant[] {
  return grants.fs.work === undefined ? [] : [{ guest: "/workdir", mode: grants.fs.work }];
}
