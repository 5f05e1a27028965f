import { printableLine } from "../../base/mod.ts";
import { type Grants, listenPorts } from "../../grants/mod.ts";

/** A run's authority as a few indented lines; foreign text is made safe. */
export function describeGrants(grants: Grants): string {
  const lines = [
    ...(grants.fs.work === undefined ? [] : [`a work folder at /workdir (${grants.fs.work})`]),
    ...grants.fs.mounts.map(({ host, guest, mode }) =>
      `the folder ${printableLine(host ?? "(not bound)")} at ${printableLine(guest)} (${mode})`
    ),
    ...(grants.env.length === 0 ? [] : [`the variables ${grants.env.map((name) => printableLine(name)).join(", ")}`]),
    ...describeNet(grants),
    ...describeSpawn(grants),
    [
      ...(grants.stdio ? ["standard input and output"] : []),
      ...(grants.clocks ? ["clocks"] : []),
      ...(grants.random ? ["random numbers"] : []),
    ].join(", ") || "no standard input or output",
    `at most ${grants.limits.memory_mb} MiB of memory and ${grants.limits.deadline_ms / 1000} s`,
  ];
  return lines.map((line) => `  ${line}\n`).join("");
}

function describeSpawn({ spawn }: Grants): string[] {
  if (spawn.length === 0) return [];
  const names = spawn.map((name) => printableLine(name)).join(", ");
  return [`delegation: it may start the capsules ${names}, each with no more than it has itself`];
}

function describeNet({ net }: Grants): string[] {
  const connects = net.filter((entry) => !entry.startsWith("listen:")).map((entry) => printableLine(entry));
  const ports = listenPorts({ net });
  return [
    ...(connects.length === 0 ? [] : [`connections to ${connects.join(", ")}`]),
    ...(ports.length === 0 ? [] : [`listening on port ${ports.join(", ")} of this machine's loopback`]),
  ];
}
