/** Supervisors and tiny session programs for tests: a `/bin/sh` script that says frames starts in a millisecond. */
import { fromFileUrl } from "@std/path";
import { encodeFrame } from "../../protocol/mod.ts";
import type { SessionLimits, SpawnPayload } from "../../protocol/control/mod.ts";
import { EMPTY_TURN, MINIMAL_PAYLOAD } from "../../protocol/control/payload_fixture.ts";
import type { Playbook } from "../testdata/scripted_session.ts";
import type { ChildEnding, SessionLaunch, SpawnRequest } from "./session_launch.ts";
import { CHILD_TIMINGS, type ChildTimings, type Notice } from "./child_state.ts";
import { SessionChild } from "./session_child.ts";
import { Supervisor } from "./supervisor.ts";
import type { SupervisorOptions } from "./supervisor_options.ts";

export const LIMITS: SessionLimits = { max_steps: 10, max_tokens: 1_000, deadline_ms: 60_000, max_depth: 4 };

/** Gates that stay open, for tests of something else. */
export const WIDE = { maxDepth: 4, maxChildren: 100_000, maxLive: 100_000, burst: 100_000, refillPerSecond: 1_000 };

const CONFIG = fromFileUrl(new URL("../../../deno.json", import.meta.url));
const CONVERSING = fromFileUrl(new URL("../testdata/conversing_session.ts", import.meta.url));
const SCRIPTED = fromFileUrl(new URL("../testdata/scripted_session.ts", import.meta.url));

let sessions = 0;

/** A payload with nothing in it but what must be. */
export function payloadFor(sessionId = `ses_${String(sessions++).padStart(32, "0")}`): SpawnPayload {
  return {
    ...MINIMAL_PAYLOAD,
    instruction: "do",
    capsule: { ...MINIMAL_PAYLOAD.capsule, name: "worker", version: "0.1.0" },
    telemetry: { ...MINIMAL_PAYLOAD.telemetry, run_id: "run", agent_id: "agent" },
    limits: LIMITS,
    places: { session_id: sessionId, root: "/s", work: "/w", cache: "/c" },
  };
}

/** The bytes as `printf` of a shell writes them. */
export function sayBytes(bytes: Uint8Array): string {
  const octal = [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
  return `printf '${octal}'`;
}

/** A line of a shell script that says the message, well-formed or not, in a well-formed frame. */
export function say(message: object): string {
  return sayBytes(encodeFrame(message));
}

export const SAY_READY: string = say({ type: "ready" });

/** Says a result and goes. */
export function sayResult(result: unknown = "42", status = "completed"): string {
  return say({ type: "result", outcome: { status, partial: false, result } });
}

/** A session that is a shell script. */
export function shellLaunch(script: string, payload = payloadFor()): SessionLaunch {
  return { program: "/bin/sh", args: ["-c", script], env: { PATH: "/usr/bin:/bin" }, payload };
}

/** A session that speaks the protocol, and does what its mode says beside. */
export function conversingLaunch(mode: string, payload = payloadFor(), ...more: readonly string[]): SessionLaunch {
  return denoLaunch(payload, CONVERSING, mode, ...more);
}

/** A session with a model that is a script. */
export function scriptedLaunch(playbook: Playbook, payload = payloadFor()): SessionLaunch {
  const intelligence = { uri: "https://model.example", model: "first", headers: [] };
  const turn = { ...EMPTY_TURN, budget_admission: true, idempotency_prefix: "ctx/1", turn_id: "1" };
  return denoLaunch({ ...payload, instruction: JSON.stringify(playbook), intelligence, turn }, SCRIPTED);
}

function denoLaunch(payload: SpawnPayload, ...program: readonly string[]): SessionLaunch {
  const home = Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`;
  return {
    program: Deno.execPath(),
    args: ["run", "-A", "--no-check", "--cached-only", "--quiet", `--config=${CONFIG}`, ...program],
    env: { PATH: "/usr/bin:/bin", DENO_DIR: home, DENO_NO_UPDATE_CHECK: "1" },
    payload,
  };
}

/** A supervisor that keeps what it is told; its ladders are short. */
export class WatchedTree implements AsyncDisposable {
  readonly supervisor: Supervisor;
  readonly notices: (Notice & { path: string })[] = [];
  readonly lines: string[] = [];
  readonly records: ChildEnding[] = [];
  readonly #watchers = new Set<() => void>();

  constructor(options: Partial<SupervisorOptions> = {}) {
    this.supervisor = new Supervisor({
      treeTokens: 1_000_000_000,
      admission: WIDE,
      timings: shortTimings(),
      ...options,
      ports: {
        ...options.ports,
        notice: (child, notice) => {
          this.notices.push({ path: child.path, ...notice });
          this.#changed();
        },
        log: (_, line) => {
          this.lines.push(line);
          this.#changed();
        },
        record: (ending) => {
          this.records.push(ending);
          return options.ports?.record?.(ending);
        },
      },
    });
  }

  /** Starts it; a refusal is a failure of the test. */
  spawn(launch: SessionLaunch, request: Partial<SpawnRequest> = {}): SessionChild {
    const child = this.supervisor.spawn({ limits: LIMITS, prepare: () => launch, ...request });
    if (child.kind === "refused") throw new Error(child.message);
    return child;
  }

  /** Until something that was noticed or logged fits. */
  async until(fits: () => boolean): Promise<void> {
    while (!fits()) {
      await new Promise<void>((resolve) => {
        const watcher = () => {
          this.#watchers.delete(watcher);
          resolve();
        };
        this.#watchers.add(watcher);
      });
    }
  }

  /** Until the child said of itself that it is ready. */
  untilReady(child: SessionChild): Promise<void> {
    return this.until(() => this.notices.some(({ kind, path }) => kind === "ready" && path === child.path));
  }

  #changed(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.supervisor[Symbol.asyncDispose]();
  }
}

/** Timings short enough to wait for. */
export function shortTimings(changes: Partial<ChildTimings> = {}): ChildTimings {
  return { ...CHILD_TIMINGS, cancelMs: 200, termMs: 200, ...changes };
}
