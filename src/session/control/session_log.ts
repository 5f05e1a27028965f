import { printableJson, writeAll } from "../../base/mod.ts";
import type { Telemetry } from "../../protocol/control/mod.ts";

/** How much a line matters. */
export type LogLevel = Telemetry["log_level"];

const LEVELS: readonly LogLevel[] = ["error", "warn", "info", "debug"];
const MAX_TEXT_LENGTH = 8_192;

/** A session's log: an object a line on stderr, stamped with who it is from. What it is told must hold no secret. */
export class SessionLog {
  #stamp: Readonly<Record<string, string>> = {};
  #level: LogLevel = "info";

  /** From now on each line says whose it is. */
  identify({ run_id, agent_id, agent_path, trace_id, log_level }: Telemetry): void {
    this.#stamp = { run_id, agent_id, agent_path, ...(trace_id === undefined ? {} : { trace_id }) };
    this.#level = log_level;
  }

  /** Writes one line, unless it matters less than what is asked for. */
  write(level: LogLevel, text: string, fields: Readonly<Record<string, unknown>> = {}): void {
    if (LEVELS.indexOf(level) > LEVELS.indexOf(this.#level)) return;
    const msg = text.slice(0, MAX_TEXT_LENGTH);
    const line = printableJson({ ...fields, ts: Date.now(), level, msg, ...this.#stamp });
    try {
      writeAll(Deno.stderr, new TextEncoder().encode(`${line}\n`));
    } catch { /* nobody reads it any more */ }
  }
}

/** Every method of `console` becomes a line of the log: whatever prints, nothing of it reaches stdout. */
export function moveConsole(log: SessionLog): void {
  const methods = console as unknown as Record<string, unknown>;
  for (const name of Object.keys(methods)) {
    if (typeof methods[name] !== "function") continue;
    const level = name === "error" || name === "warn" ? name : "debug";
    methods[name] = (...values: unknown[]) => log.write(level, values.map(describe).join(" "), { console: name });
  }
}

function describe(value: unknown): string {
  return typeof value === "string" ? value : Deno.inspect(value);
}
