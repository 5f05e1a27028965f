/**
 * The sessions of a soak, each with the ending that it must have: command capsules that answer, fail, trap, flood, hang and
 * sleep, and programs that break the protocol in every way.
 * @module
 */
import type { PreparedSession } from "../../src/session/mod.ts";
import type { SessionLaunch } from "../../src/supervisor/tree/mod.ts";
import { conversingLaunch, say, SAY_READY, sayBytes, shellLaunch } from "../../src/supervisor/tree/tree_fixture.ts";
import type { Bed } from "../harness.ts";
import { prepareGuest, type SessionOptions } from "../process/running_session.ts";

/** What can be started, and how that has to end: `status/ended_by` for its waiter, and the cause in its trace. */
export interface Kind {
  readonly name: string;
  readonly ending: string;
  readonly recorded: string;
  prepare(bed: Bed): Promise<{ readonly prepared: PreparedSession; readonly launch: SessionLaunch }>;
}

/** Every kind. */
export const KINDS: readonly Kind[] = [
  guest("cat", "completed/guest", "guest", { task: { instruction: "an answer" } }),
  guest("exit3", "failed/guest", "guest"),
  guest("trap", "failed/guest", "trap"),
  guest("flood", "failed/guest", "output", { guestLimits: { output_bytes: 200_000 } }),
  guest("loop", "deadline/deadline", "deadline", { limits: { deadline_ms: 2_000 } }),
  guest("block", "deadline/deadline", "deadline", { limits: { deadline_ms: 3_000 } }),
  guest("grow_trap", "failed/guest", "memory"),
  program("dies", "crashed/crashed", `${SAY_READY}; exit 7`),
  program("never ready", "crashed/crashed", "exit 9"),
  program(
    "talks nonsense",
    "failed/protocol_broken",
    `${SAY_READY}; ${sayBytes(new Uint8Array([0, 0, 0, 2, 91, 93]))}; read x`,
  ),
  program("stops itself", "deadline/stuck", `${SAY_READY}; kill -STOP $$; read x`),
  program("says it failed", "failed/guest", say({ type: "failed", error: { code: "model.down", message: "no" } })),
  {
    ...program("floods its supervisor", "completed/guest", ""),
    async prepare(bed) {
      const prepared = await prepareGuest(bed, "ok");
      return { prepared, launch: below(bed, conversingLaunch("flood", prepared.launch.payload, `{"events":20000}`)) };
    },
  },
];

/** A session that stays until it is told to go, and answers pings meanwhile: the parent of others. */
export async function prepareParent(bed: Bed): Promise<{ prepared: PreparedSession; launch: SessionLaunch }> {
  const prepared = await prepareGuest(bed, "ok", { limits: { deadline_ms: 3_600_000 } });
  return { prepared, launch: below(bed, conversingLaunch("stay", prepared.launch.payload)) };
}

function guest(name: string, ending: string, recorded: string, options: SessionOptions = {}): Kind {
  return {
    name,
    ending,
    recorded,
    async prepare(bed) {
      const prepared = await prepareGuest(bed, name, options);
      return { prepared, launch: prepared.launch };
    },
  };
}

function program(name: string, ending: string, script: string): Kind {
  return {
    name,
    ending,
    recorded: ending.split("/")[1]!,
    async prepare(bed) {
      const prepared = await prepareGuest(bed, "ok");
      return { prepared, launch: dyingWithParent(below(bed, shellLaunch(script, prepared.launch.payload))) };
    },
  };
}

/** So that whoever looks for what is left finds it. */
function below(bed: Bed, launch: SessionLaunch): SessionLaunch {
  return { ...launch, env: { ...launch.env, TMPDIR: `${bed.root}/run` } };
}

/** As every real session does: one that is stopped hears no end of its stdin. */
function dyingWithParent({ program, args, ...launch }: SessionLaunch): SessionLaunch {
  return { ...launch, program: "/usr/bin/setpriv", args: ["--pdeathsig", "KILL", program, ...args] };
}
