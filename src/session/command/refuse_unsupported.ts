import { CapsuleError } from "../../base/mod.ts";
import { ALLOWED_TOOLS_ROLE, type SpawnPayload } from "../../protocol/control/mod.ts";

/**
 * What would have no effect is refused by name, and so is what only a session with a model can do.
 * @throws `payload.unsupported`
 */
export function refuseUnsupported(payload: SpawnPayload): void {
  const found = Object.entries(withoutEffect(payload)).find(([, isThere]) => isThere)?.[0];
  if (found === undefined) return;
  throw new CapsuleError("payload.unsupported", `Start a command session: found ${found}, which a command has not`);
}

/** Whether what a command has no use for is there. The tool grant is minted for every session, and binds its supervisor. */
function withoutEffect(payload: SpawnPayload) {
  const { output_contract, output_schema, context_seed, intelligence, mcp_servers, a2a_peers, gated_tools } = payload;
  return {
    output_contract: output_contract !== undefined,
    output_schema: output_schema !== undefined,
    context_seed: context_seed.some(({ role }) => role !== ALLOWED_TOOLS_ROLE),
    intelligence: intelligence !== undefined,
    mcp_servers: mcp_servers.length > 0,
    a2a_peers: a2a_peers.length > 0,
    gated_tools: gated_tools.length > 0,
    // Nothing else could give it a second turn, and nothing else makes a door of use.
    warm: payload.warm && payload.door === undefined,
    door: payload.door !== undefined && !payload.warm,
    turn: payload.turn !== undefined,
  };
}
