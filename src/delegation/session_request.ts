import type { SessionRequest } from "../session/mod.ts";
import type { Slot } from "../supervisor/tree/mod.ts";
import type { DelegatingSession } from "./delegating_session.ts";
import type { Authority } from "./fit_child.ts";
import type { LauncherOptions } from "./launcher_options.ts";
import type { Spawnable } from "./spawnable.ts";

/** A start that was admitted. */
export interface ChildStart {
  readonly slot: Slot;
  readonly parent: DelegatingSession;
  readonly delegationId: string;
  readonly spawnable: Spawnable;
  readonly component: SessionRequest["component"];
  readonly authority: Authority;
  readonly task: string;
}

/** What the child's session is made from: its part of its parent's variables, and nothing that its manifest says of grants. */
export function sessionRequest(
  { slot, parent, delegationId, spawnable, component, authority, task }: ChildStart,
  { home, runtime, boll_version, upstream, containmentOf, root, runId }: Omit<LauncherOptions, "warn">,
): SessionRequest {
  const { capsule, manifest, digest } = spawnable;
  const { grants, limits } = authority;
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
    component,
    grants,
    envValues: Object.fromEntries(variables),
    containment: containmentOf(grants),
    ...(upstream === undefined ? {} : { upstream }),
    spawner: { session_id: parent.sessionId, context_id: parent.contextId, delegation_id: delegationId },
    task: {
      instruction: task,
      context_seed: [],
      mcp_servers: [],
      a2a_peers: [],
      gated_tools: [],
      limits,
      telemetry: {
        run_id: root?.places.id ?? runId ?? parent.sessionId,
        agent_id: capsule.name,
        agent_path: slot.path,
        log_level: "info",
        log_content: manifest.trace.capture === "content",
      },
      depth: slot.depth,
      warm: false,
      role: "command",
      args: manifest.args ?? [],
    },
  };
}
