import { type Containment, printableJson, printableLine } from "../../base/mod.ts";
import { achievedContainment } from "../../grants/mod.ts";
import { type HullProbe, probeHull } from "../../hull/mod.ts";
import { homeRoot, openHome, runtimeFolder } from "../../records/mod.ts";
import { type Paint, paintFor } from "../text/paint.ts";
import type { Context, Verb } from "../verb.ts";
import { READING_WIDTH, wrapLine } from "../text/wrap.ts";
import { type VersionReport, versionReport } from "./version.ts";

/** One wall on this host. */
export interface WallState {
  readonly wall: 1 | 2 | 3 | 4;
  readonly name: "imports" | "permissions" | "process" | "kernel";
  /** `partly`: some of it needs another system or the compiled executable. */
  readonly up: "yes" | "partly" | "no";
  /** What holds it, or why it is missing and how to get it. */
  readonly detail: readonly string[];
}

/** One place that boll needs. */
export interface PlaceState {
  readonly name: "home" | "runtime";
  readonly path?: string;
  readonly ok: boolean;
  readonly detail?: string;
}

/** What `boll doctor --json` prints. */
export interface DoctorReport {
  readonly ok: boolean;
  readonly containment: { readonly strongest: Containment; readonly reasons: readonly string[] };
  readonly walls: readonly WallState[];
  readonly places: readonly PlaceState[];
  readonly host: Omit<HullProbe, "reasons">;
  readonly versions: VersionReport;
  readonly terminal: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
}

/** `boll doctor`: which walls this host has, probed live, and how to get the others. */
export const verb: Verb = {
  name: "doctor",
  summary: "Show which walls this host has",
  usage: "doctor [options]",
  operands: { min: 0, max: 0, names: [] },
  options: [{ name: "json", summary: "Print JSON" }],
  notes: [
    "Probes the running kernel; changes nothing. Exits 0 when capsules can run here,",
    "with whatever walls there are, and 1 when boll's own folders cannot be used.",
  ],
  async run(args, context) {
    const report = doctorReport(probeHull(), Deno.build.standalone, await versionReport(), context);
    const text = args.has("json")
      ? printableJson(report) + "\n"
      : doctorText(report, paintFor(context.stdout, context));
    context.stdout.write(text);
    return report.ok ? 0 : 1;
  },
};

/** The report for a probe's result; looks only at boll's own folders. */
export function doctorReport(
  probe: HullProbe,
  compiled: boolean,
  versions: VersionReport,
  context: Pick<Context, "readVariable" | "stdout" | "stderr">,
): DoctorReport {
  const { reasons: probed, ...host } = probe;
  const { achieved, reasons } = achievedContainment(probe, { compiled, net: [] });
  // What is weak beside a class that is reached (an older Landlock) stands in the probe alone.
  const containment = { strongest: achieved, reasons: [...new Set([...reasons, ...probed])] };
  const places = [
    inspectPlace("home", () => openHome(context.readVariable).root, () => homeRoot(context.readVariable)),
    inspectPlace("runtime", () => runtimeFolder(context.readVariable)),
  ];
  return {
    ok: places.every((place) => place.ok),
    containment,
    walls: wallStates(host, compiled, containment),
    places,
    host,
    versions,
    terminal: {
      stdin: Deno.stdin.isTerminal(),
      stdout: context.stdout.isTerminal,
      stderr: context.stderr.isTerminal,
    },
  };
}

function wallStates(
  host: DoctorReport["host"],
  compiled: boolean,
  { strongest, reasons }: DoctorReport["containment"],
): WallState[] {
  const hasProcess = compiled && host.os === "linux";
  const isScoped = strongest === "scoped";
  return [
    { wall: 1, name: "imports", up: "yes", detail: ["Only granted interfaces are linked; the host checks every call"] },
    { wall: 2, name: "permissions", up: "yes", detail: ["The guest's worker has exactly the granted lists"] },
    {
      wall: 3,
      name: "process",
      up: hasProcess ? "yes" : "partly",
      detail: hasProcess
        ? ["A cell of its own: empty environment, closed descriptors, limits, dies with its parent"]
        : [
          "A cell of its own with an empty environment",
          "Limits, closed descriptors and death with its parent need the executable on Linux",
        ],
    },
    {
      wall: 4,
      name: "kernel",
      up: isScoped ? "yes" : "no",
      detail: isScoped ? [`Landlock ABI ${host.landlockAbi} and seccomp`, ...reasons] : reasons,
    },
  ];
}

function inspectPlace(name: PlaceState["name"], open: () => string, where?: () => string): PlaceState {
  try {
    return { name, path: open(), ok: true };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    const path = attempt(where);
    return { name, ...(path === undefined ? {} : { path }), ok: false, detail };
  }
}

function attempt(read: (() => string) | undefined): string | undefined {
  try {
    return read?.();
  } catch {
    return undefined;
  }
}

function doctorText(report: DoctorReport, paint: Paint): string {
  const { containment, versions, host, terminal } = report;
  const streams = Object.entries(terminal).filter(([, isTerminal]) => isTerminal).map(([name]) => name);
  const kernel = host.kernel === "" ? "" : `, kernel ${printableLine(host.kernel)}`;
  return [
    paint.bold(`Strongest containment here: ${containment.strongest}`),
    "",
    "Walls",
    ...report.walls.flatMap((state) => wallLines(state, paint)),
    "",
    "Folders",
    ...report.places.map((state) => placeLine(state, paint)),
    "",
    "This build",
    `  boll ${versions.boll} (base: ${versions.base}), deno ${versions.deno}, transpiler ${versions.transpiler}`,
    `  ${host.os} ${host.arch}${kernel}; terminal: ${streams.join(", ") || "none"}`,
    "",
  ].join("\n");
}

function wallLines({ wall, name, up, detail }: WallState, paint: Paint): string[] {
  const indent = " ".repeat(24);
  const lines = detail.flatMap((text) => wrapLine(indent + printableLine(text), { width: READING_WIDTH, indent }));
  const head = `  ${wall} ${name.padEnd(12)} ${mark(up, paint)} `;
  return lines.map((line, i) => i === 0 ? head + line.slice(indent.length) : line);
}

function placeLine({ name, path, ok, detail }: PlaceState, paint: Paint): string {
  return `  ${name.padEnd(14)} ${mark(ok ? "yes" : "no", paint)} ${printableLine(detail ?? path ?? "")}`;
}

function mark(up: WallState["up"], paint: Paint): string {
  const word = up.padEnd("partly".length);
  return up === "yes" ? paint.good(word) : up === "no" ? paint.bad(word) : paint.warn(word);
}
