import type { HullRules } from "../base/mod.ts";
import { LISTEN_HOST, type Upstream } from "../manifest/mod.ts";
import { achievedContainment, type HullCapabilities, NET_LANDLOCK_ABI } from "./containment.ts";
import type { Grants, MountGrant } from "./grants.ts";
import { type ComponentRole, toImports } from "./imports.ts";
import { listenPorts } from "./net_walls.ts";
import { callsAtOnce, toolInstances } from "./tool_grants.ts";
import { guestThread, toHull, toPermissions, toProcess } from "./walls.ts";

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
  readonly upstream?: Pick<Upstream, "proxy" | "ca">;
  readonly role?: ComponentRole;
}

/** The four walls of a run on this host. */
export function explainWalls(grants: Grants, options: ExplainWallsOptions): readonly WallExplanation[] {
  const bound: Grants = { ...grants, fs: { ...grants.fs, mounts: grants.fs.mounts.filter(({ host }) => host) } };
  return [
    explainImports(bound, options),
    explainPermissions(bound, options),
    explainProcess(bound, options),
    explainKernel(bound, options),
  ];
}

function explainImports(grants: Grants, { upstream = {}, role }: ExplainWallsOptions): WallExplanation {
  const preopens = [...grants.fs.mounts, ...workOf(grants)].map(({ guest, mode }) => `${guest} (${mode})`);
  const { open_files, file_bytes, work_bytes, output_bytes } = grants.limits;
  return {
    wall: 1,
    name: "imports",
    up: true,
    binds: [
      `Linked interfaces, and no other: ${toImports(grants, role).join(", ")}`,
      `Files: ${preopens.length === 0 ? "none" : `only below ${preopens.join(", ")}`}`,
      ...describeNet(grants, upstream),
      `Variables: ${grants.env.length === 0 ? "none" : `only ${grants.env.join(", ")}`}`,
      `Delegation: ${grants.spawn.length === 0 ? "none" : `only to ${grants.spawn.join(", ")}, as boll.lock has them`}`,
      ...(grants.stdio ? [] : ["stdin, stdout and stderr are closed"]),
      `Memory ${grants.limits.memory_mb} MiB, ${open_files} open files, ${file_bytes} bytes a file, ` +
      `${work_bytes} bytes written${output_bytes === undefined ? "" : `, ${output_bytes} bytes of output`}`,
    ],
    does_not_bind: [
      "What the guest does with files inside the folders it was given",
      ...(grants.net.length === 0 ? [] : ["What the guest says to whom it may connect to"]),
      ...(grants.spawn.length === 0
        ? []
        : ["What a capsule that it delegates to does with its part of this authority"]),
      "A guest that breaks out of the engine or finds a bug in this host: walls 2 to 4 stand behind",
      "A link swapped during a walk by another process: wall 4 stands behind",
    ],
  };
}

function explainPermissions(grants: Grants, { compiled, work }: ExplainWallsOptions): WallExplanation {
  const { read, write, net } = toPermissions(grants, { work, gatePort: SOME_PORT });
  return {
    wall: 2,
    name: "permissions",
    up: true,
    binds: [
      `Reading: ${read === false ? "nothing" : read.join(", ")}`,
      `Writing: ${write === false ? "nothing" : write.join(", ")}`,
      `Network: ${net === false ? "nothing" : net.map(namePort).join(", ")}`,
      "Variables, programs, libraries, system information, imports: nothing",
    ],
    does_not_bind: [
      "Links inside a granted folder, which Deno follows out of it: walls 1 and 4 stand there",
      ...(compiled ? ["import() of JavaScript and JSON files anywhere: wall 4 stands behind"] : []),
      ...(net === false ? [] : ["Which address a name has: the gate resolves it once, and checks what it connects to"]),
      ...(grants.net.some((entry) => entry.includes("*."))
        ? ["A wildcard's own name, which walls 1 and the gate refuse"]
        : []),
      ...(write === false ? [] : ["The cell's main thread, which keeps read and write so that links can be made"]),
    ],
  };
}

function explainProcess(grants: Grants, { compiled, probe, role }: ExplainWallsOptions): WallExplanation {
  const instances = role === "tool" ? toolInstances(grants.limits) : 1;
  const { dataBytes, cpuSeconds, fileBytes, openFiles } = toProcess(grants, guestThread(grants), instances);
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
      ...(role === "tool"
        ? [
          `A call that never gives the thread back is ended with it after ${grants.limits.deadline_ms} ms`,
          `Calls at once: ${callsAtOnce(grants.limits)}, each in an instance of its own; more wait`,
        ]
        : [`It is killed after ${grants.limits.deadline_ms} ms`]),
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
  // What makes a run advisory by its grants leaves the wall standing.
  const { achieved, reasons } = achievedContainment(probe, { compiled, net: [] });
  if (achieved !== "scoped") return { wall: 4, name: "kernel", up: false, binds: [], does_not_bind: reasons };
  const hull = toHull(grants, { cache: "the component's cache folder", work, gatePort: SOME_PORT });
  const { read, write } = hull;
  const network = explainKernelNet(hull, probe);
  return {
    wall: 4,
    name: "kernel",
    up: true,
    binds: [
      `Landlock ABI ${probe.landlockAbi}, reading: ${read.join(", ")}`,
      `Landlock, reading and writing: ${write.length === 0 ? "nothing" : write.join(", ")}`,
      ...network.binds,
      `seccomp on every thread: no programs, ${network.sockets}, no signals, no other process, ` +
      "no change of modes or owners",
    ],
    does_not_bind: [
      "Whether a path exists, and its size and times: metadata of any file",
      "What is inside the granted folders, CPU and memory",
      ...network.doesNotBind,
      "A bug in the kernel itself",
    ],
  };
}

function explainKernelNet({ tcpConnect, tcpBind, udp }: HullRules, { landlockAbi }: HullCapabilities) {
  const anyTcp = tcpConnect.length + tcpBind.length > 0;
  const isBound = landlockAbi >= NET_LANDLOCK_ABI;
  const connects = tcpConnect.length === 0 ? "to nothing" : "only to the gate's port on this machine";
  const listens = tcpBind.length === 0 ? "" : `, listening only on port ${tcpBind.join(", ")}`;
  const kinds = [...(anyTcp ? ["TCP"] : []), ...(udp ? ["UDP"] : [])].join(" and ");
  return {
    binds: anyTcp && isBound ? [`Landlock, TCP: connecting ${connects}${listens}`] : [],
    sockets: kinds === "" ? "no new sockets" : `no sockets but ${kinds}`,
    doesNotBind: [
      ...(anyTcp && !isBound ? [`TCP: Landlock binds ports from ABI ${NET_LANDLOCK_ABI} on`] : []),
      ...(anyTcp && isBound ? ["The address behind an allowed TCP port: walls 1 and 2 stand before"] : []),
      ...(udp ? ["UDP, to whatever address: no wall stands below the host's own check"] : []),
    ],
  };
}

function describeNet({ net }: Grants, { proxy, ca }: Pick<Upstream, "proxy" | "ca">): string[] {
  if (net.length === 0) return ["Network: none"];
  const connects = net.filter((entry) => !entry.startsWith("listen:"));
  const ports = listenPorts({ net });
  return [
    `Network: ${connects.length === 0 ? "no connections" : `only ${connects.join(", ")}`}` +
    (ports.length === 0 ? "" : `; listening on ${LISTEN_HOST}, only port ${ports.join(", ")}`),
    ...(proxy === undefined ? [] : [`Connections leave through the proxy ${proxy.host}, port ${proxy.port}`]),
    ...(ca === undefined ? [] : [`Certificates of ${ca} are trusted beside the built-in ones`]),
  ];
}

/** Stands for the gate's port, which is chosen when a run starts. */
const SOME_PORT = 0;

function namePort(entry: string): string {
  return entry === `127.0.0.1:${SOME_PORT}` ? "the gate on this machine" : entry;
}

function workOf(grants: Grants): MountGrant[] {
  return grants.fs.work === undefined ? [] : [{ guest: "/workdir", mode: grants.fs.work }];
}
