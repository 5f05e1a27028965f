import * as z from "zod/mini";
import type { ErrorCode } from "../base/mod.ts";
import { checkAcross, checkComponent, checkGlobs, checkProxy } from "./cross_checks.ts";
import { type Problem, type ReadDocument, readDocument } from "./document.ts";
import { normalizeGuestPath } from "./guest_path.ts";
import type { Manifest, Positions } from "./manifest.ts";
import { parseNetEntry } from "./net_entry.ts";
import { describeIssues, refuseFile } from "./problems.ts";
import { type DeclaredGrants, manifestSchema, workspaceSchema, type WorkspaceValue } from "./schema.ts";

/**
 * Reads a manifest's text; `file` names it in messages.
 * @throws {CapsuleError} `manifest.syntax` or `manifest.invalid`
 */
export function parseManifest(text: string, file: string): Manifest {
  const { value, document } = parseFile(text, {
    file,
    schema: manifestSchema,
    codes: { syntax: "manifest.syntax", invalid: "manifest.invalid" },
    check: (read) => [...checkAcross(read, "grants"), ...checkComponent(read)],
  });
  return {
    name: value.name,
    version: value.version,
    ...(value.description === undefined ? {} : { description: value.description }),
    component: value.component,
    args: value.args ?? [],
    grants: normalize(value.grants ?? {}),
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
  readonly schema: Schema;
  readonly codes: { readonly syntax: ErrorCode; readonly invalid: ErrorCode };
  readonly check: (document: ReadDocument) => Problem[];
}

function parseFile<Schema extends z.core.$ZodType>(
  text: string,
  { file, schema, codes, check }: FileKind<Schema>,
): { value: z.infer<Schema>; document: ReadDocument } {
  const document = readDocument(text);
  if (document.syntax.length > 0) throw refuseFile(codes.syntax, file, document, document.syntax);
  const result = z.safeParse(schema, document.value);
  const issues = result.success ? [] : result.error.issues;
  const problems = [
    ...document.duplicates,
    ...describeIssues(issues, document, (path) => keysAt(schema, path)),
    ...check(document),
  ];
  if (problems.length > 0 || !result.success) throw refuseFile(codes.invalid, file, document, problems);
  return { value: result.data, document };
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
