import { type Grants, NO_GRANTS, toolGrants } from "../../src/grants/mod.ts";
import { digestCapsule, isAgent, loadCapsule } from "../../src/manifest/mod.ts";
import type { Intelligence, SpawnPayload } from "../../src/protocol/control/mod.ts";
import { openHome, runtimeFolder } from "../../src/records/mod.ts";
import { ensureComponent, type PreparedSession, prepareSession } from "../../src/session/mod.ts";
import { type Bed, fixture } from "../harness.ts";
import { asExecutable } from "./prepare_capsule.ts";

/** One turn of a playbook. */
export interface PlayedTurn {
  readonly when_contains?: string;
  readonly text?: string;
  readonly tool_calls?: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number };
  readonly delay_ms?: number;
}

/** What differs from a plain agent whose model is scripted. */
export interface AgentOptions {
  readonly turns?: readonly PlayedTurn[];
  /** More of its manifest, and files beside it. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly intelligence?: Intelligence;
  /** Its tools: name → guest of `tests/fixtures`, with all that the capsule has. */
  readonly tools?: Readonly<Record<string, string>>;
  readonly grants?: Partial<Grants>;
  readonly limits?: Partial<SpawnPayload["limits"]>;
  readonly task?: Partial<SpawnPayload>;
}

/** A model that plays these turns, in the session itself. */
export function scripted(turns: readonly PlayedTurn[]): Intelligence {
  const text = JSON.stringify({ turns });
  return { uri: `data:application/json,${encodeURIComponent(text)}`, dialect: "scripted", headers: [] };
}

/** Writes an agent capsule and makes all that a session of it needs. */
export async function prepareAgent(bed: Bed, options: AgentOptions = {}): Promise<PreparedSession> {
  const { turns = [], manifest = {}, files = {}, intelligence = scripted(turns), limits, grants, task, tools = {} } =
    options;
  const read = (name: string) => bed.environment()[name];
  const inference = { uri: "turns.json", dialect: "scripted", system_prompt: "You are a test." };
  const named = Object.keys(tools).map((name) => ({ name, component: `${name}.wasm` }));
  const path = bed.folder(`agent-${crypto.randomUUID()}`, {
    "capsule.jsonc": JSON.stringify({ name: "tester", version: "1.0.0", inference, tools: named, ...manifest }),
    "turns.json": JSON.stringify({ turns: [{ text: "unused" }] }),
    ...files,
  });
  for (const [name, guest] of Object.entries(tools)) Deno.copyFileSync(await fixture(guest), `${path}/${name}.wasm`);
  const capsule = await loadCapsule(path);
  if (!isAgent(capsule)) throw new Error("Prepare an agent: it is none");
  const digests = digestCapsule(capsule);
  const home = openHome(read);
  const granted = { ...NO_GRANTS, stdio: true, clocks: true, random: true, ...grants };
  for (const { name, componentPath } of capsule.tools) {
    const { memory_mb: memoryMb } = toolGrants(undefined, granted).grants.limits;
    const digest = digests.tools[name]!;
    await ensureComponent({ cacheRoot: home.cache, componentPath, digest, memoryMb, hull: false });
  }
  const prepared = prepareSession({
    home,
    runtime: runtimeFolder(read),
    boll_version: "0.0.0-test",
    capsule: {
      name: "tester",
      version: "1.0.0",
      kind: "folder",
      path: `${path}/capsule.jsonc`,
      digest: digests.capsule,
    },
    grants: granted,
    envValues: {},
    containment: { achieved: "advisory", reasons: [] },
    task: {
      instruction: "the task",
      context_seed: [],
      mcp_servers: [],
      a2a_peers: [],
      gated_tools: [],
      limits: { max_steps: 10, max_tokens: 100_000, deadline_ms: 60_000, max_depth: 1, ...limits },
      telemetry: { run_id: "run-1", agent_id: "agent-1", agent_path: "0.1", log_level: "info", log_content: false },
      depth: 1,
      warm: false,
      role: "agent",
      args: [],
      intelligence,
      ...task,
    },
  });
  return bed.mode === "source" ? prepared : { ...prepared, launch: asExecutable(bed, prepared.launch) };
}
