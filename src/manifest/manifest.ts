import type { Proxy } from "./net_entry.ts";
import type { DeclaredGrants } from "./grants_schema.ts";
import type { Lifecycle } from "./lifecycle_schema.ts";

/** What the trace keeps of a run beside its events. */
export type Capture = "none" | "meta" | "content";

/** Where the values of a file stand: dotted path (`grants.fs.mounts[0].guest`) to line and column, both from 1. */
export interface Positions {
  /** The line of the value's key, or of its nearest ancestor that is written; 1 when nothing is. */
  lineOf(path: string): number;
  /** Line and column, found as {@link Positions.lineOf} does. */
  at(path: string): { readonly line: number; readonly column: number };
  /** Whether exactly this path is written in the file. */
  has(path: string): boolean;
}

/** What an endpoint speaks. */
export type InferenceDialect = "openai" | "anthropic" | "scripted";

/** One further header: its value, or the name of the secret that is. */
export type InferenceHeader =
  | { readonly name: string; readonly value: string }
  | { readonly name: string; readonly secret: string };

/** An `inference` block: where an agent's model is, and how much of it a session may use. */
export interface Inference {
  /**
   * Canonical endpoints with commas between, in failover order; of the dialect `scripted` the playbook's file as written.
   * Absent: its parent's, or the operator's.
   */
  readonly uri?: string;
  /** Absent is `openai`. */
  readonly dialect?: InferenceDialect;
  readonly model?: string;
  /** The name of the secret. */
  readonly api_key?: string;
  readonly headers: readonly InferenceHeader[];
  readonly max_turns: number;
  readonly max_output_tokens: number;
  /** Of the session and all that it delegates, in and out. */
  readonly max_session_tokens: number;
  readonly temperature?: number;
  /** The text itself; {@link AgentCapsule.systemPrompt} has it wherever it stands. */
  readonly system_prompt?: string;
  readonly system_prompt_file?: string;
}

/** An A2A agent elsewhere. */
export interface Peer {
  /** What the model calls it. */
  readonly name: string;
  /** Canonical, without a slash at its end: its agent card is below. */
  readonly url: string;
  /** An entry of the network's language. */
  readonly origin: string;
  /** The name of the secret that opens its door. */
  readonly token?: string;
}

/** A `capsule.jsonc`, read and checked. `grants` is as declared: defaults and bindings are the grants room's. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  /** As written: relative to the manifest. The checked real path is the capsule's `componentPath`. Absent for an agent. */
  readonly component?: string;
  /** Present exactly when there is no `component`: the capsule is an agent. */
  readonly inference?: Inference;
  /** Components that an agent's model may call, as written. */
  readonly tools: readonly { readonly name: string; readonly component: string; readonly grants?: DeclaredGrants }[];
  /** Texts that an agent's model may read, as written. */
  readonly skills: readonly { readonly name: string; readonly description: string; readonly file: string }[];
  /** A2A agents elsewhere that an agent's model may send messages to. */
  readonly peers: readonly Peer[];
  /** The variable's name → the only origins that its value may be sent to. */
  readonly secrets: Readonly<Record<string, readonly string[]>>;
  readonly args: readonly string[];
  readonly grants: DeclaredGrants;
  /** How it takes tasks, as written. */
  readonly lifecycle?: Lifecycle;
  readonly trace: { readonly capture: Capture };
  readonly positions: Positions;
}

/** The manifest of an agent. */
export type AgentManifest = Manifest & { readonly inference: Inference };

/** What a user names to run: a folder with a manifest, or a component alone. Paths are absolute and real. */
export type Capsule = CommandCapsule | AgentCapsule;

/** A component: a command, or a service. */
export interface CommandCapsule {
  readonly kind: "manifest" | "bare";
  /** The capsule's folder; of a bare component the folder it lies in. */
  readonly root: string;
  readonly name: string;
  readonly version?: string;
  readonly componentPath: string;
  /** Present exactly when `kind` is `manifest`. */
  readonly manifestPath?: string;
  /** `sha256:<hex>` of the bytes that `manifest` was read from. */
  readonly manifestDigest?: string;
  readonly manifest?: Manifest;
}

/** A model with tools and skills. */
export interface AgentCapsule {
  readonly kind: "manifest";
  readonly root: string;
  readonly name: string;
  readonly version: string;
  readonly componentPath?: undefined;
  readonly manifestPath: string;
  readonly manifestDigest: string;
  readonly manifest: AgentManifest;
  readonly tools: readonly AgentTool[];
  readonly skills: readonly AgentSkill[];
  readonly systemPrompt?: string;
  /** The text that the dialect `scripted` plays. */
  readonly playbook?: string;
  /** What was read already, by path below `root` → `sha256:<hex>` of those bytes. */
  readonly readFiles: Readonly<Record<string, string>>;
}

/** A component that a model may call. */
export interface AgentTool {
  readonly name: string;
  readonly componentPath: string;
  /** Absent: the capsule's. */
  readonly grants?: DeclaredGrants;
}

/** A text that a model may read. */
export interface AgentSkill {
  readonly name: string;
  /** One line. */
  readonly description: string;
  readonly path: string;
}

/** One `boll.jsonc`, read and checked. It counts as the operator's word only when its path and digest are trusted. */
export interface Workspace {
  /** The file's real path. */
  readonly path: string;
  /** The real path of its folder. */
  readonly root: string;
  /** Globs of own capsules, relative to `root`. */
  readonly capsules: readonly string[];
  /** The most that anything below `root` may have. */
  readonly ceiling?: DeclaredGrants;
  /** Names of the secrets that capsules below may use at all; absent is any. */
  readonly secrets?: readonly string[];
  /** The proxy that the gate connects through. Counts only when this file is trusted ({@link findUpstream}). */
  readonly proxy?: Proxy;
  /** Absolute path of a PEM file, as written and not looked at. Counts only when this file is trusted. */
  readonly ca?: string;
  /** `sha256:<hex>` of the file's bytes. */
  readonly digest: string;
  readonly positions: Positions;
}
