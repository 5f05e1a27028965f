import type { Intelligence, Remote } from "../protocol/control/mod.ts";
import { agentTask, commandTask, type SessionRequest } from "../session/mod.ts";
import type { Slot } from "../supervisor/tree/mod.ts";
import type { DelegatingSession } from "./delegating_session.ts";
import type { Authority } from "./fit_child.ts";
import type { LauncherOptions } from "./launcher_options.ts";
import type { BuiltCapsule, Spawnable } from "./spawnable.ts";

/** A start that was admitted. */
export interface ChildStart {
  readonly slot: Slot;
  readonly parent: DelegatingSession;
  readonly delegationId: string;
  readonly spawnable: Spawnable;
  readonly built: BuiltCapsule;
  /** An agent's model, its own or its parent's; a command has none. */
  readonly intelligence?: Intelligence;
  /** An agent's; a command has none. */
  readonly peers: readonly Remote[];
  readonly authority: Authority;
  readonly task: string;
}

/** What the child's session is made from: its part of its parent's variables, and nothing that its manifest says of grants. */
export function sessionRequest(
  { slot, parent, delegationId, spawnable, built, intelligence, peers, authority, task }: ChildStart,
  { home, runtime, boll_version, upstream, containmentOf, root, runId }: Omit<LauncherOptions, "warn">,
): SessionRequest {
  const { capsule, manifest, digest } = spawnable;
  const { grants, limits } = authority;
  const input = {
    name: capsule.name,
    path: slot.path,
    depth: slot.depth,
    runId: root?.places.id ?? runId ?? parent.sessionId,
    logContent: manifest.trace.capture === "content",
    limits,
    instruction: task,
  };
  const variables = Object.entries(parent.envValues).filter(([name]) => grants.env.includes(name));
  return {
    home,
    ...(runtime === undefined ? {} : { runtime }),
    boll_version,
    capsule: {
      name: capsule.name,
      kind: "folder",
      path: capsule.manifestPath ?? capsule.root,
      digest,
      version: manifest.version,
    },
    ...(built.tools === undefined ? { component: built.component } : { tools: built.tools }),
    grants,
    envValues: Object.fromEntries(variables),
    containment: containmentOf(grants),
    ...(upstream === undefined ? {} : { upstream }),
    spawner: { session_id: parent.sessionId, context_id: parent.contextId, delegation_id: delegationId },
    task: intelligence === undefined ? commandTask(input, manifest.args) : agentTask(input, { intelligence, peers }),
  };
}
