import { CapsuleError } from "../base/mod.ts";
import {
  type BuildResult,
  type ComponentDescription,
  type CoreFile,
  filesOf,
  type MemoryPages,
} from "./description.ts";

const MAX_FILES = 1000;
const MAX_NAMES = 1000;
const MAX_WIT_CHARACTERS = 64 * 1024;
/** No file of a build may be larger, bytes. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
const FILE_NAME = /^[a-z0-9][a-z0-9_.]{0,63}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const EXTERNAL_NAME = /^[A-Za-z0-9:/@.+[\]-]{1,256}$/;

/**
 * Decodes what a build cell said, or what lies in a cache: wrong types, names, sizes or counts are refused, further
 * fields are dropped.
 * @throws component.build_failed
 */
export function decodeBuildResult(value: unknown): BuildResult {
  const result = record(value, "result");
  const { digest } = result;
  if (typeof digest !== "string" || !DIGEST.test(digest)) fail("digest", "sha256: and 64 hex digits");
  const glue = decodeFile(result.glue, "glue");
  const code = decodeFile(result.code, "code");
  const modules = list(result.modules, "modules", MAX_FILES).map((file) => decodeFile(file, "module"));
  const names = new Set(filesOf({ glue, code, modules }).map(({ name }) => name));
  if (names.size !== modules.length + 2 || names.has("meta.json")) fail("names of files", "each once, none meta.json");
  return { digest, description: decodeDescription(result.description, names), glue, code, modules };
}

function decodeDescription(value: unknown, files: ReadonlySet<string>): ComponentDescription {
  const description = record(value, "description");
  const { kind, wit } = description;
  if (kind !== "component" && kind !== "adapted") fail("kind", '"component" or "adapted"');
  if (typeof wit !== "string" || wit.length > MAX_WIT_CHARACTERS) fail("wit", "a text of at most 64 KiB");
  const memories = list(description.memories, "memories", MAX_NAMES).map((memory) => decodeMemory(memory));
  if (memories.some(({ module }) => !files.has(module))) fail("memories", "names of modules of this build");
  return {
    kind,
    imports: externalNames(description.imports, "imports"),
    exports: externalNames(description.exports, "exports"),
    wit,
    memories,
  };
}

function externalNames(value: unknown, what: string): string[] {
  return list(value, what, MAX_NAMES).map((name) =>
    typeof name === "string" && EXTERNAL_NAME.test(name) ? name : fail(what, "WIT names")
  );
}

function decodeFile(value: unknown, what: string): CoreFile {
  const { name, sha256, bytes } = record(value, what);
  if (typeof name !== "string" || !FILE_NAME.test(name)) fail(`name of ${what}`, "lower-case letters, digits, _ and .");
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) fail(`sha256 of ${what}`, "64 hex digits");
  return { name, sha256, bytes: integer(bytes, `bytes of ${what}`, MAX_FILE_BYTES) };
}

function decodeMemory(value: unknown): MemoryPages {
  const { module, page_bytes, min_pages, max_pages } = record(value, "memory");
  if (typeof module !== "string" || !FILE_NAME.test(module)) fail("module of memory", "a file name");
  return {
    module,
    page_bytes: integer(page_bytes, "page_bytes", 65536),
    min_pages: integer(min_pages, "min_pages", Number.MAX_SAFE_INTEGER),
    max_pages: integer(max_pages, "max_pages", Number.MAX_SAFE_INTEGER),
  };
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(what, "an object");
  return Object.assign(Object.create(null), value);
}

function list(value: unknown, what: string, max: number): unknown[] {
  if (!Array.isArray(value) || value.length > max) fail(what, `a list of at most ${max}`);
  return value;
}

function integer(value: unknown, what: string, max: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0 || (value as number) > max) fail(what, `0 to ${max}`);
  return value as number;
}

function fail(what: string, wanted: string): never {
  throw new CapsuleError("component.build_failed", `Read build: found a wrong ${what}, wanted ${wanted}`);
}
