import { dirname } from "@std/path";
import type { HullRules } from "../../base/mod.ts";
import type { ProcessHull } from "../../hull/mod.ts";
import type { SpawnPayload } from "../../protocol/control/mod.ts";
import { freePort } from "../network/free_port.ts";
import { supervisorRules } from "./supervisor_hull.ts";

/**
 * Confines this process to what its first frame names, before it knows more: the gate's port, its component, what its role
 * will do. Tighter layers follow, but they reach only the threads that are made after them; this one is above all threads.
 *
 * @throws `hull.failed`
 */
export function raiseFirstLayer(hull: Pick<ProcessHull, "confine"> | undefined, payload: SpawnPayload): void {
  hull?.confine(firstRules(payload, Deno.env.get("TMPDIR") ?? ""));
}

/** The rules of that layer; `tmp` is this process's private folder. */
export function firstRules(payload: SpawnPayload, tmp: string): HullRules {
  const { grants, places, capsule, tls_ca, door } = payload;
  const rules = supervisorRules(grants, {
    cache: places.cache,
    session: places.root,
    // The folders of the cells are made in this process's own.
    tmp: `${tmp}/cell`,
    ...(grants.fs.work === undefined ? {} : { work: places.work }),
    // Which port its gate gets, and which a model is behind, nobody knows yet.
    ...(hasNetwork(payload) ? { network: { gatePort: 0 } } : {}),
    ceiling: {
      read: [folderOf(capsule.path), ...(tls_ca === undefined ? [] : [tls_ca])],
      write: door?.service === undefined ? [] : [door.service.folder],
    },
  }, false);
  return door === undefined ? rules : { ...rules, tcpBind: [...rules.tcpBind, door.port] };
}

/** The payload with the port of its door: the wall that allows one must know it before it is bound. */
export function withDoorPort(payload: SpawnPayload): SpawnPayload {
  const { door } = payload;
  if (door === undefined || door.port !== 0) return payload;
  return { ...payload, door: { ...door, port: freePort(door.hostname) ?? 0 } };
}

function hasNetwork({ grants, intelligence, mcp_servers, a2a_peers }: SpawnPayload): boolean {
  const hasModel = intelligence !== undefined && intelligence.dialect !== "scripted";
  return grants.net.length > 0 || hasModel || mcp_servers.length > 0 || a2a_peers.length > 0;
}

/** All of a capsule: its folder, or that one component. */
function folderOf(path: string): string {
  try {
    return path.endsWith(".wasm") || Deno.statSync(path).isDirectory ? path : dirname(path);
  } catch {
    return path;
  }
}
