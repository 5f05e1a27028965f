import type { AgentCapsule, Peer, Upstream } from "../manifest/mod.ts";
import type { HullCapabilities } from "./containment.ts";
import type { StartableExplanation } from "./explain.ts";
import { findUnused } from "./find_unused.ts";
import { explainWalls, type WallExplanation } from "./explain_walls.ts";
import type { Grants } from "./grants.ts";
import { checkImports, type MissingImport } from "./imports.ts";
import type { ModelGrant } from "./model_grant.ts";
import { peerSecrets } from "./peer_grants.ts";
import { toolGrants } from "./tool_grants.ts";

/** What {@link explainAgent} needs; nothing is run or read. */
export interface ExplainAgentInput {
  readonly capsule: AgentCapsule;
  readonly grants: Grants;
  /** Absent: its parent's, or one that is still to be named. */
  readonly model?: ModelGrant;
  /** Those that it may send to; default none. */
  readonly peers?: readonly Peer[];
  /** By the tool's name. */
  readonly digests: Readonly<Record<string, string>>;
  /** By the tool's name, what its component imports; a tool that was not described is absent. */
  readonly imports: Readonly<Record<string, readonly string[]>>;
  readonly may_start: readonly StartableExplanation[];
  /** Where texts come from that no tool reads: `whoever reaches its door`. */
  readonly inputs?: readonly string[];
  readonly probe: HullCapabilities;
  readonly compiled: boolean;
  readonly work: string;
  readonly upstream?: Pick<Upstream, "proxy" | "ca">;
}

/** One tool, and what binds its guest. */
export interface ToolExplanation {
  readonly name: string;
  readonly digest: string;
  /** Its own within the capsule's. */
  readonly grants: Grants;
  /** What it asks for beyond the capsule, one sentence each. Absent when there is none. */
  readonly dropped?: readonly string[];
  readonly walls: readonly WallExplanation[];
  /** Imported and not granted. */
  readonly missing: readonly MissingImport[];
  readonly unused?: readonly string[];
}

/** What an agent is, beside its grants. JSON-safe. */
export interface AgentExplanation {
  /** Absent: its parent's. */
  readonly model?: ModelGrant;
  readonly limits: {
    readonly max_turns: number;
    readonly max_output_tokens: number;
    readonly max_session_tokens: number;
  };
  readonly tools: readonly ToolExplanation[];
  /** Agents elsewhere that it may send messages to. Absent when there is none. */
  readonly peers?: readonly Peer[];
  readonly skills: readonly { readonly name: string; readonly description: string }[];
  /** There when it has all three at once. */
  readonly danger?: Danger;
}

/** What no wall can bind: who writes what it reads may make it send what it holds. */
export interface Danger {
  /** What it reads that others wrote. */
  readonly untrusted_input: readonly string[];
  readonly private_data: readonly string[];
  readonly way_out: readonly string[];
}

/** An agent as data. Pure. */
export function explainAgent(input: ExplainAgentInput): AgentExplanation {
  const { capsule, model, peers = [] } = input;
  const { max_turns, max_output_tokens, max_session_tokens } = capsule.manifest.inference;
  const tools = capsule.tools.map((tool) => explainTool(tool, input));
  const danger = findDanger({ ...input, tools });
  return {
    ...(model === undefined ? {} : { model }),
    limits: { max_turns, max_output_tokens, max_session_tokens },
    tools,
    ...(peers.length === 0 ? {} : { peers }),
    skills: capsule.skills.map(({ name, description }) => ({ name, description })),
    ...(danger === undefined ? {} : { danger }),
  };
}

function explainTool(
  { name, grants: declared }: AgentCapsule["tools"][number],
  { capsule, grants: whole, digests, imports, probe, compiled, work, upstream }: ExplainAgentInput,
): ToolExplanation {
  const { grants, dropped } = toolGrants(declared, whole);
  const own = imports[name];
  return {
    name,
    digest: digests[name] ?? "",
    grants,
    ...(dropped.length === 0 ? {} : { dropped: dropped.map(({ text }) => text) }),
    walls: explainWalls(grants, {
      role: "tool",
      probe,
      compiled,
      work,
      ...(upstream === undefined ? {} : { upstream }),
    }),
    missing: own === undefined ? [] : checkImports(own, grants, capsule.manifest, "tool"),
    ...(own === undefined ? {} : { unused: findUnused(grants, own) }),
  };
}

/** Who reads what strangers wrote, holds what is private and has a way out can be told to send it. */
export function findDanger(
  { tools, may_start, model, peers = [], inputs = [] }:
    & Pick<ExplainAgentInput, "may_start" | "model" | "peers" | "inputs">
    & { readonly tools: readonly Pick<ToolExplanation, "name" | "grants">[] },
): Danger | undefined {
  const connects = (grants: Grants) => grants.net.filter((entry) => !entry.startsWith("listen:"));
  const untrusted_input = [
    ...inputs,
    ...tools.flatMap(({ name, grants }) => {
      const read = [...grants.fs.mounts.map(({ guest }) => guest), ...connects(grants)];
      return read.length === 0 ? [] : [`the tool ${name} (${read.join(", ")})`];
    }),
    ...peers.map(({ name }) => `the answers of the peer ${name}`),
  ];
  const mounts = tools.flatMap(({ grants }) => grants.fs.mounts.map(({ guest, host }) => host ?? guest));
  const private_data = [
    ...new Set(mounts.map((folder) => `the folder ${folder}`)),
    ...Object.keys({ ...model?.secrets, ...peerSecrets(peers) }).map((name) => `the secret ${name}`),
  ];
  const way_out = [
    ...new Set(tools.flatMap(({ grants }) => connects(grants))),
    ...may_start.flatMap(({ name, grants }) => {
      const net = grants === undefined ? [] : connects(grants);
      return net.length === 0 ? [] : [`the capsule ${name} (${net.join(", ")})`];
    }),
    ...peers.map(({ name, origin }) => `the peer ${name} (${origin})`),
  ];
  const isDangerous = [untrusted_input, private_data, way_out].every((part) => part.length > 0);
  return isDangerous ? { untrusted_input, private_data, way_out } : undefined;
}
