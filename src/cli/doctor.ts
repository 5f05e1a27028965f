import { type Containment, printableJson, printableLine } from "../base/mod.ts";
import { achievedContainment } from "../grants/mod.ts";
import { type HullProbe, probeHull } from "../hull/mod.ts";
import { homeRoot, openHome, runtimeFolder } from "../records/mod.ts";
import { type Paint, paintFor } from "./paint.ts";
import type { Context, Verb } from "./verb.ts";
import { type VersionReport, versionReport } from "./version.ts";

/** One wall on this host. */
export interface WallState {
  readonly wall: 1 | 2 | 3 | 4;
  readonly name: "imports" | "permissions" | "process" | "kernel";
  readonly up: boolean;
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
  const { achieved, reasons } = achievedContainment(probe, compiled);
  const places = [
    inspectPlace("home", () => openHome(context.readVariable).root, () => homeRoot(context.readVariable)),
    inspectPlace("runtime", () => runtimeFolder(context.readVariable)),
  ];
  return {
    ok: places.every((place) => place.ok),
    containment: { strongest: achieved, reasons },
    walls: wallStates(host, achieved, [...new Set([...reasons, ...probed])]),
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

function wallStates(host: DoctorReport["host"], achieved: Containment, reasons: readonly string[]): WallState[] {
  const isLinux = host.os === "linux";
  const kernel = `Landlock ABI ${host.landlockAbi} and seccomp on kernel ${host.kernel}`;
  const isUp = achieved === "scoped";
  return [
    { wall: 1, name: "imports", up: true, detail: ["only granted interfaces are linked, every operation is checked"] },
    { wall: 2, name: "permissions", up: true, detail: ["the guest's worker has exactly the granted lists"] },
    {
      wall: 3,
      name: "process",
      up: isLinux,
      detail: isLinux
        ? ["a cell of its own: empty environment, limits, dies with its parent"]
        : ["a cell of its own with an empty environment; its limits and its death with its parent need Linux"],
    },
    { wall: 4, name: "kernel", up: isUp, detail: isUp ? [kernel, ...reasons] : reasons },
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
  const [first = "", ...more] = detail.map((line) => printableLine(line));
  return [`  ${wall} ${name.padEnd(12)} ${mark(up, paint)} ${first}`, ...more.map((line) => " ".repeat(21) + line)];
}

function placeLine({ name, path, ok, detail }: PlaceState, paint: Paint): string {
  return `  ${name.padEnd(14)} ${mark(ok, paint)} ${printableLine(detail ?? path ?? "")}`;
}

function mark(yes: boolean, paint: Paint): string {
  return yes ? paint.good("yes") + " " : paint.bad("no") + "  ";
}
