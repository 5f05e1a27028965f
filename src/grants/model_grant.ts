import { CapsuleError, errorCodeOf, printableLine } from "../base/mod.ts";
import {
  type AgentCapsule,
  type Inference,
  type InferenceDialect,
  type InferenceHeader,
  parseEndpoints,
  type Workspace,
} from "../manifest/mod.ts";

/** What the operator typed about the model: his word, like every flag. */
export interface ModelFlags {
  /** Endpoints with commas between; with the dialect `scripted`, what the playbook is called. */
  readonly uri?: string;
  readonly dialect?: InferenceDialect;
  readonly model?: string;
  /** The name of the variable with the key. */
  readonly apiKey?: string;
  /** The text of the playbook that he named. */
  readonly playbook?: string;
}

/** Where an agent's model is and what is sent there. JSON-safe, free of values: variables are named. */
export interface ModelGrant {
  readonly dialect: InferenceDialect;
  /** Canonical, in failover order; empty for a playbook, which is sent nothing. */
  readonly endpoints: readonly string[];
  readonly model?: string;
  /** The variable whose value is the key. */
  readonly api_key?: string;
  readonly headers: readonly InferenceHeader[];
  /** Each variable whose value is sent, and the only origins that it may go to. */
  readonly secrets: Readonly<Record<string, readonly string[]>>;
  /** Who named the endpoints. */
  readonly from: "manifest" | "operator";
}

/** What {@link resolveModel} gives. */
export interface ResolvedModel {
  /** Absent: the capsule names no model of its own, so that it has its parent's. */
  readonly grant?: ModelGrant;
  /** What the dialect `scripted` plays. */
  readonly playbook?: string;
  /** What is not sent, and why; one sentence each. */
  readonly warnings: readonly string[];
  /** Present where a flag stands for an endpoint or a secret of the manifest's: without it, what is sent goes elsewhere. */
  readonly isNarrowed?: true;
}

/** What decides where an agent's model is. */
export interface ResolveModelInput {
  readonly capsule: AgentCapsule;
  readonly flags: ModelFlags;
  /** Every `boll.jsonc` above the capsule: a list of secrets there binds, whoever trusts it. */
  readonly workspaces: readonly Workspace[];
}

/**
 * Where a model is: as the manifest says, or as the operator typed. A variable that the manifest lists goes only to the
 * origins that the manifest lists for it, also when the operator names another endpoint; the one that he names goes where
 * he says.
 * @throws {CapsuleError} `inference.bad_uri`, `usage.bad_value`, `grant.exceeds_ceiling`
 */
export function resolveModel(input: ResolveModelInput): ResolvedModel {
  const resolved = chooseModel(input);
  return { ...resolved, ...(isHeldBack(input.capsule, resolved.grant) ? { isNarrowed: true } : {}) };
}

/** Whether an endpoint of the manifest's is not there, or a secret that its model is sent. */
function isHeldBack({ manifest: { inference, secrets } }: AgentCapsule, grant: ModelGrant | undefined): boolean {
  const { uri, dialect, api_key, headers } = inference;
  const sent = [api_key ?? [], ...headers.map((header) => "secret" in header ? header.secret : [])].flat();
  const declared = uri === undefined || dialect === "scripted" ? [] : parseEndpoints(uri);
  return declared.some(({ url }) => grant?.endpoints.includes(url) !== true) ||
    sent.some((name) => Object.hasOwn(secrets, name) && !Object.hasOwn(grant?.secrets ?? {}, name));
}

function chooseModel({ capsule, flags, workspaces }: ResolveModelInput): ResolvedModel {
  const { inference, secrets: listed } = capsule.manifest;
  const uri = flags.uri ?? inference.uri;
  if (uri === undefined) return refuseStray(flags, capsule.name);
  const from = flags.uri === undefined ? "manifest" : "operator";
  const dialect = dialectOf(flags, inference);
  const model = flags.model ?? inference.model;
  const named = model === undefined ? {} : { model };
  if (dialect === "scripted") {
    const playbook = flags.playbook ?? capsule.playbook;
    if (playbook === undefined || flags.apiKey !== undefined) {
      throw new CapsuleError("usage.bad_value", "Read --dialect: scripted plays the file of --uri, and has no key");
    }
    return { grant: { dialect, endpoints: [], ...named, headers: [], secrets: {}, from }, playbook, warnings: [] };
  }
  if (model === undefined) throw new CapsuleError("usage.bad_value", "Read --uri: wanted --model too, its name there");
  const endpoints = readEndpoints(uri, from);
  const origins = [...new Set(endpoints.map(({ origin }) => origin))];
  const sent = chooseSecrets(inference, { listed, origins, flags, capsule: capsule.name });
  checkSecretNames(Object.keys(sent.secrets), workspaces);
  const { warnings, ...rest } = sent;
  return { grant: { dialect, endpoints: endpoints.map(({ url }) => url), ...named, ...rest, from }, warnings };
}

/** Those of a manifest are named with their line when it is read; those of a flag here. */
function readEndpoints(uri: string, from: ModelGrant["from"]) {
  try {
    return parseEndpoints(uri);
  } catch (error) {
    if (from !== "operator" || errorCodeOf(error) !== "inference.bad_uri") throw error;
    throw new CapsuleError("inference.bad_uri", `Read --uri: ${(error as Error).message}`, { cause: error });
  }
}

/** A flag about a model that is not there would have no effect. */
function refuseStray({ dialect, apiKey, model }: ModelFlags, name: string): ResolvedModel {
  if (dialect === undefined && apiKey === undefined && model === undefined) return { warnings: [] };
  throw new CapsuleError(
    "usage.bad_value",
    `Read --model: ${printableLine(name, 80)} names no endpoint; give --uri too`,
  );
}

/** The playbook's dialect is of no other place. */
function dialectOf({ uri, dialect }: ModelFlags, inference: Inference): InferenceDialect {
  if (dialect !== undefined) {
    const isPlaybook = uri === undefined && inference.dialect === "scripted";
    if (uri !== undefined || (dialect === "scripted") === isPlaybook) return dialect;
    throw new CapsuleError("usage.bad_value", `Read --dialect: ${dialect} needs --uri too, where such a model is`);
  }
  const own = inference.dialect ?? "openai";
  return uri !== undefined && own === "scripted" ? "openai" : own;
}

type Sent = Pick<ModelGrant, "api_key" | "headers" | "secrets"> & Pick<ResolvedModel, "warnings">;

function chooseSecrets(
  inference: Inference,
  { listed, origins, flags, capsule }: {
    readonly listed: Readonly<Record<string, readonly string[]>>;
    readonly origins: readonly string[];
    readonly flags: ModelFlags;
    readonly capsule: string;
  },
): Sent {
  const warnings: string[] = [];
  const secrets: Record<string, readonly string[]> = {};
  const maySend = (name: string): boolean => {
    const stranger = origins.find((origin) => !listed[name]?.includes(origin));
    if (stranger === undefined) secrets[name] = origins;
    else {
      warnings.push(
        `The variable ${name} is not sent to ${stranger}: ${printableLine(capsule, 80)} lists it only for ${
          listed[name]?.join(", ")
        }; name it with --api-key if it is the key there`,
      );
    }
    return stranger === undefined;
  };
  const headers = inference.headers.filter((header) => !("secret" in header) || maySend(header.secret));
  const own = flags.apiKey === undefined ? inference.api_key : undefined;
  const key = own !== undefined && maySend(own) ? own : flags.apiKey;
  if (flags.apiKey !== undefined) secrets[flags.apiKey] = origins;
  return { ...(key === undefined ? {} : { api_key: key }), headers, secrets, warnings };
}

/**
 * Refuses a secret that a workspace above does not allow.
 * @throws {CapsuleError} `grant.exceeds_ceiling`
 */
export function checkSecretNames(names: readonly string[], workspaces: readonly Workspace[]): void {
  for (const { path, secrets, positions } of workspaces) {
    const stranger = secrets === undefined ? undefined : names.find((name) => !secrets.includes(name));
    if (stranger === undefined) continue;
    throw new CapsuleError(
      "grant.exceeds_ceiling",
      `Use the secret ${printableLine(stranger)}: secrets of ${printableLine(path)}:${
        positions.lineOf("secrets")
      } does not have it`,
    );
  }
}
