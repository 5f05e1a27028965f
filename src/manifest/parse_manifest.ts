import * as z from "zod/mini";
import type { ErrorCode } from "../base/mod.ts";
import { checkAgent, referenceOf } from "./agent_checks.ts";
import type { DeclaredInference } from "./agent_schema.ts";
import { checkAcross, checkComponent, checkGlobs, checkProxy } from "./cross_checks.ts";
import { type Problem, type ReadDocument, readDocument } from "./document.ts";
import { normalizeGuestPath } from "./guest_path.ts";
import { parseEndpoint, parseEndpoints, parseOrigin } from "./endpoint.ts";
import type { DeclaredGrants } from "./grants_schema.ts";
import { checkLifecycle } from "./lifecycle_schema.ts";
import type { Inference, Manifest, Peer, Positions } from "./manifest.ts";
import { parseNetEntry } from "./net_entry.ts";
import { describeIssues, refuseFile } from "./problems.ts";
import { manifestSchema, type ManifestValue, workspaceSchema, type WorkspaceValue } from "./schema.ts";

/**
 * Reads a manifest's text; `file` names it in messages.
 * @throws {CapsuleError} `manifest.syntax` or `manifest.invalid`
 */
export function parseManifest(text: string, file: string): Manifest {
  const { value, document } = parseFile(text, {
    file,
    schema: manifestSchema,
    codes: { syntax: "manifest.syntax", invalid: "manifest.invalid" },
    check: (
      read,
    ) => [...checkAcross(read, "grants"), ...checkComponent(read), ...checkAgent(read), ...checkLifecycle(read)],
  });
  return {
    name: value.name,
    version: value.version,
    ...(value.description === undefined ? {} : { description: value.description }),
    ...(value.component === undefined ? {} : { component: value.component }),
    ...(value.inference === undefined ? {} : { inference: readInference(value.inference) }),
    tools: (value.tools ?? []).map(({ grants, ...tool }) => ({
      ...tool,
      ...(grants === undefined ? {} : { grants: normalize(grants) }),
    })),
    skills: value.skills ?? [],
    peers: (value.peers ?? []).map(readPeer),
    secrets: readSecrets(value.secrets ?? {}),
    args: value.args ?? [],
    grants: normalize(value.grants ?? {}),
    ...(value.lifecycle === undefined ? {} : { lifecycle: value.lifecycle }),
    trace: { capture: value.trace?.capture ?? "meta" },
    positions: document.positions,
  };
}

/**
 * Reads the text of a `boll.jsonc`.
 * @throws {CapsuleError} `workspace.invalid`
 */
export function parseWorkspace(text: string, file: string): { value: WorkspaceValue; positions: Positions } {
  const { value, document } = parseFile(text, {
    file,
    schema: workspaceSchema,
    codes: { syntax: "workspace.invalid", invalid: "workspace.invalid" },
    check: (read) => [...checkAcross(read, "ceiling"), ...checkGlobs(read), ...checkProxy(read)],
  });
  const ceiling = value.ceiling === undefined ? {} : { ceiling: normalize(value.ceiling) };
  return { value: { ...value, ...ceiling }, positions: document.positions };
}

interface FileKind<Schema extends z.core.$ZodType> {
  readonly file: string;
  readonly schema: (value?: unknown) => Schema;
  readonly codes: { readonly syntax: ErrorCode; readonly invalid: ErrorCode };
  readonly check: (document: ReadDocument) => Problem[];
}

function parseFile<Schema extends z.core.$ZodType>(
  text: string,
  { file, schema, codes, check }: FileKind<Schema>,
): { value: z.infer<Schema>; document: ReadDocument } {
  const document = readDocument(text);
  if (document.syntax.length > 0) throw refuseFile(codes.syntax, file, document, document.syntax);
  const result = z.safeParse(schema(document.value), document.value);
  const issues = result.success ? [] : result.error.issues;
  let whole: Schema | undefined;
  const problems = [
    ...document.duplicates,
    ...describeIssues(issues, document, (path) => keysAt(whole ??= schema(), path)),
    ...check(document),
  ];
  if (problems.length > 0 || !result.success) throw refuseFile(codes.invalid, file, document, problems);
  return { value: result.data, document };
}

const INFERENCE_DEFAULTS = { max_turns: 10, max_output_tokens: 4096, max_session_tokens: 200_000 } as const;

function readInference({ uri, api_key, headers = {}, ...declared }: DeclaredInference): Inference {
  const isFile = declared.dialect === "scripted";
  const api = api_key === undefined ? undefined : referenceOf(api_key);
  return {
    ...INFERENCE_DEFAULTS,
    ...declared,
    ...(uri === undefined ? {} : { uri: isFile ? uri : parseEndpoints(uri).map(({ url }) => url).join(",") }),
    ...(api === undefined ? {} : { api_key: api }),
    headers: Object.entries(headers).map(([name, value]) => {
      const secret = referenceOf(value);
      return secret === undefined ? { name, value } : { name, secret };
    }),
  };
}

function readPeer({ name, url, token }: NonNullable<ManifestValue["peers"]>[number]): Peer {
  const secret = token === undefined ? undefined : referenceOf(token);
  return { name, ...parseEndpoint(url), ...(secret === undefined ? {} : { token: secret }) };
}

function readSecrets(secrets: Readonly<Record<string, readonly string[]>>): Manifest["secrets"] {
  return Object.fromEntries(Object.entries(secrets).map(([name, origins]) => [name, origins.map(parseOrigin)]));
}

/** The grants with guest paths and net entries in their one form. */
function normalize(grants: DeclaredGrants): DeclaredGrants {
  const mounts = grants.fs?.mounts?.map((mount) => ({ ...mount, guest: normalizeGuestPath(mount.guest) }));
  const net = grants.net?.map((entry) => parseNetEntry(entry).text);
  return {
    ...grants,
    ...(mounts === undefined ? {} : { fs: { ...grants.fs, mounts } }),
    ...(net === undefined ? {} : { net }),
  };
}

/** Follows a path through the schema to the keys that its object knows. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at: z.core.$ZodType | undefined = unwrap(schema);
  for (const step of path) {
    if (at === undefined) return [];
    const def: unknown = at._zod.def;
    at = typeof step === "number" ? childOf(def, "element") : childOf(childOf(def, "shape"), String(step));
    if (at !== undefined) at = unwrap(at);
  }
  return at === undefined ? [] : Object.keys(childOf(at._zod.def, "shape") ?? {});
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  return childOf(schema._zod.def, "innerType") ?? schema;
}

function childOf(value: unknown, key: string): z.core.$ZodType | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return (value as Readonly<Record<string, z.core.$ZodType>>)[key];
}
