import { printableLine } from "../base/mod.ts";
import type { Workspace } from "./manifest.ts";
import type { Proxy } from "./net_entry.ts";
import type { Trust } from "./trust.ts";

/** What stands between the gate and the network, as the operator wrote it in trusted `boll.jsonc` files. */
export interface Upstream {
  readonly proxy?: Proxy;
  /** Absolute path of a PEM file of further certificates; not looked at yet. */
  readonly ca?: string;
  /** `proxy` and `ca` of files that are not trusted and so have no effect, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * The upstream proxy and certificates of a run: each from the nearest trusted workspace that names one. Who could set
 * them could read or forge a guest's connections, so that a stranger's `boll.jsonc` never counts.
 */
export function findUpstream(workspaces: readonly Workspace[], trust: Pick<Trust, "isTrusted">): Upstream {
  const naming = workspaces.filter(({ proxy, ca }) => proxy !== undefined || ca !== undefined);
  const trusted = naming.filter((workspace) => trust.isTrusted(workspace));
  const proxy = trusted.find((workspace) => workspace.proxy !== undefined)?.proxy;
  const ca = trusted.find((workspace) => workspace.ca !== undefined)?.ca;
  return {
    ...(proxy === undefined ? {} : { proxy }),
    ...(ca === undefined ? {} : { ca }),
    warnings: naming.filter((workspace) => !trusted.includes(workspace)).map(({ path }) =>
      `Ignored proxy and ca of ${printableLine(path)}: you have not trusted this file`
    ),
  };
}
