import { printableLine } from "../../base/mod.ts";
import type { SessionState, TraceEvent, TraceProblem } from "../../records/mod.ts";
import { agentSummary, contentLines } from "./agent_summary.ts";
import { fields, list, text } from "../text/foreign_value.ts";
import type { Paint } from "../text/paint.ts";
import { byteSize } from "../text/quantities.ts";

const NAME_WIDTH = 16;
const TIME_WIDTH = 11;

/**
 * A trace as text, event by event, in flat memory. Every field is foreign data: whatever its type, it is shown on its
 * line, made safe, or left out.
 */
export class Timeline {
  readonly #paint: Paint;
  readonly #id: string;
  readonly #trace: string;
  #startedMs: number | undefined;
  #hasEnded = false;

  /** `trace` is the path of the file that is shown. */
  constructor(sessionId: string, trace: string, paint: Paint) {
    this.#id = sessionId;
    this.#trace = trace;
    this.#paint = paint;
  }

  /** The lines of one event. */
  event(event: TraceEvent): string {
    const isFirst = this.#startedMs === undefined;
    this.#startedMs ??= event.ts;
    if (event.event === "session_start" && isFirst) return this.#start(event);
    const head = isFirst ? `${this.#paint.bold(`Session ${this.#id}`)}\n\n` : "";
    if (event.event === "session_end") this.#hasEnded = true;
    return head + this.#row(event.ts, event.event, this.#summary(event), this.#hints(event));
  }

  /** A line that could not be read. */
  problem(problem: TraceProblem): string {
    return `${" ".repeat(TIME_WIDTH)}  ${this.#paint.warn(skippedLine(problem))}\n`;
  }

  /** What stands for the middle of a long trace. */
  gap(bytes: number): string {
    return `${" ".repeat(TIME_WIDTH)}  ${this.#paint.warn(`… ${gapNote(bytes)}`)}\n`;
  }

  /** What stands below the last event. */
  end(state: SessionState): string {
    if (this.#hasEnded) return "";
    const head = this.#startedMs === undefined ? `${this.#paint.bold(`Session ${this.#id}`)}\n\n` : "";
    return `${head}${" ".repeat(TIME_WIDTH)}  ${
      this.#paint.warn(state === "running" ? "still running" : "no ending recorded")
    }\n`;
  }

  #start(event: TraceEvent): string {
    const capsule = fields(event["capsule"]);
    const containment = fields(event["containment"]);
    const reasons = list(containment["reasons"]).map(text);
    const floor = containment["declared"] === undefined ? "no floor asked" : `floor ${text(containment["declared"])}`;
    const rows: [string, string][] = [
      ["started", isoTime(event.ts)],
      ["capsule", [capsule["name"], capsule["version"]].filter((part) => part !== undefined).map(text).join(" ")],
      ["path", text(capsule["path"])],
      ["digest", text(event["digest"])],
      ["containment", `${text(containment["achieved"])} (${floor})`],
      ...reasons.map((reason): [string, string] => ["", reason]),
      ...grantLines(event["grants"]).map((line, i): [string, string] => [i === 0 ? "grants" : "", line]),
      ...(event["spawned_by"] === undefined
        ? []
        : [["started by", `${text(event["spawned_by"])} (${text(event["delegation_id"])})`] as [string, string]]),
      ...(event["work"] === undefined ? [] : [["work", text(event["work"])] as [string, string]]),
      ...argumentLines(event),
      ["trace", printableLine(this.#trace)],
    ];
    const lines = rows.map(([name, value]) => `  ${this.#paint.dim(name.padEnd(12))} ${value}`);
    return [this.#paint.bold(`Session ${this.#id}`), ...lines, "", ""].join("\n");
  }

  #row(ts: number, name: string, summary: string, hints: readonly string[]): string {
    // A clock that was set back meanwhile: nothing came before the start.
    const afterMs = Math.max(0, ts - this.#startedMs!);
    const offset = `+${(afterMs / 1000).toFixed(3)} s`.padStart(TIME_WIDTH);
    const label = printableLine(name, 40).padEnd(NAME_WIDTH);
    const indent = " ".repeat(TIME_WIDTH + 2 + NAME_WIDTH + 1);
    const first = `${this.#paint.dim(offset)}  ${this.#colour(name, label)} ${summary}`;
    return [first.trimEnd(), ...hints.map((hint) => `${indent}${hint}`), ""].join("\n");
  }

  #colour(name: string, label: string): string {
    if (name === "denied" || name === "limit") return this.#paint.warn(label);
    return name === "session_end" ? this.#paint.bold(label) : label;
  }

  #summary(event: TraceEvent): string {
    if (event.event === "denied") {
      return `${text(event["asked"])} (wall: ${text(event["wall"])}, grant: ${text(event["grant"])})`;
    }
    if (event.event === "walls") return wallsRaised(event);
    if (event.event === "session_end") return this.#ending(event);
    const ofAgent = agentSummary(event);
    if (ofAgent !== undefined) return ofAgent;
    const { event: _event, ts: _ts, session_id: _id, ...rest } = event;
    return Object.entries(rest).map(([name, value]) => `${printableLine(name, 40)}=${text(value)}`).join(" ");
  }

  #ending(event: TraceEvent): string {
    const status = text(event["status"]);
    const painted = status === "completed" ? this.#paint.good(status) : this.#paint.bad(status);
    const cause = `exit ${text(event["exit_code"])}, ended by ${text(event["ended_by"])} after ${
      text(event["duration_ms"])
    } ms`;
    return `${painted}, ${cause}`;
  }

  #hints(event: TraceEvent): string[] {
    if (event.event === "session_end") {
      const dropped = Object.entries(fields(event["dropped_events"]))
        .map(([name, count]) => `${text(count)} more ${printableLine(name, 40)} events were counted, not recorded`);
      return [...(event["detail"] === undefined ? [] : [text(event["detail"])]), ...dropped];
    }
    if (event.event !== "denied") return contentLines(event);
    const { flag, manifest } = fields(event["allow"]);
    return [
      ...(flag === undefined ? [] : [`would allow it: ${text(flag)}`]),
      ...(manifest === undefined ? [] : [`or in the manifest: ${text(manifest)}`]),
    ];
  }
}

/** What is said of a line that is no event. */
export function skippedLine({ line, reason }: TraceProblem): string {
  return `${line === 0 ? "a line" : `line ${line}`} of the trace is skipped: ${reason}`;
}

/** What is said of the middle of a long trace that is left out. */
export function gapNote(bytes: number): string {
  return `${byteSize(bytes)} of the trace are not shown; --all shows everything`;
}

/** What the guest was told, as far as the trace keeps it. */
function argumentLines(event: TraceEvent): [string, string][] {
  if (event["args"] !== undefined) return [["arguments", list(event["args"]).map(text).join(" ")]];
  const count = event["args_count"];
  return typeof count === "number" && count > 0 ? [["arguments", `${text(count)}, not recorded`]] : [];
}

/** The walls that stood, strongest last. */
function wallsRaised(event: TraceEvent): string {
  const kernel = [
    ...(event["landlock"] === true ? [`Landlock ABI ${text(event["landlock_abi"])}`] : []),
    ...(event["seccomp"] === true ? ["seccomp"] : []),
  ];
  const permissions = event["permissions"] === "revoked" ? "all revoked" : "narrowed lists";
  return `imports, permissions (${permissions}), process, ${
    kernel.length === 0 ? "no kernel wall" : `kernel (${kernel.join(", ")})`
  }`;
}

/** The effective grants in a few short lines. */
function grantLines(value: unknown): string[] {
  const grants = fields(value);
  const fs = fields(grants["fs"]);
  const limits = fields(grants["limits"]);
  const switches = ["stdio", "clocks", "random"].filter((name) => grants[name] === true);
  const mounts = list(fs["mounts"]).map(fields).map(({ guest, host, mode }) =>
    `${text(guest)} ${text(mode)} = ${text(host)}`
  );
  return [
    switches.join(", ") || "no stdio, clocks or random",
    ...(fs["work"] === undefined ? [] : [`/workdir ${text(fs["work"])}`]),
    ...mounts,
    ...(list(grants["env"]).length === 0 ? [] : [`env ${list(grants["env"]).map(text).join(", ")}`]),
    ...(list(grants["net"]).length === 0 ? [] : [`net ${list(grants["net"]).map(text).join(", ")}`]),
    ...(list(grants["spawn"]).length === 0 ? [] : [`spawn ${list(grants["spawn"]).map(text).join(", ")}`]),
    ...(limits["memory_mb"] === undefined
      ? []
      : [`memory ${text(limits["memory_mb"])} MiB, deadline ${text(limits["deadline_ms"])} ms`]),
  ];
}

function isoTime(ts: number): string {
  const date = new Date(ts);
  return Number.isNaN(date.getTime()) ? text(ts) : date.toISOString().replace("T", " ").replace("Z", " UTC");
}
