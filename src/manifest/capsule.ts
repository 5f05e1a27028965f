import { basename, dirname, join, relative } from "@std/path";
import { CapsuleError, printableLine } from "../base/mod.ts";
import { digestBytes } from "./digest.ts";
import type { AgentCapsule, AgentManifest, Capsule, CommandCapsule, Manifest } from "./manifest.ts";
import { readText } from "./regular_file.ts";

/** The name of every manifest. */
export const MANIFEST_NAME = "capsule.jsonc";

/** A larger manifest is refused, bytes. */
export const MAX_MANIFEST_BYTES = 1024 * 1024;

/** A larger prompt, playbook or skill is refused, bytes. */
const MAX_NAMED_TEXT_BYTES = 1024 * 1024;

/**
 * Loads what a user names: a folder with a `capsule.jsonc`, that file itself, or a bare `.wasm`.
 * @throws {CapsuleError} `capsule.not_found`, `capsule.bad_file`, `manifest.*`
 */
export async function loadCapsule(path: string): Promise<Capsule> {
  const real = realPath(path);
  const info = Deno.statSync(real);
  if (info.isDirectory) return await loadFolder(real, path);
  if (info.isFile && basename(real) === MANIFEST_NAME) return await loadFolder(dirname(real), path);
  if (info.isFile && /\.wasm$/i.test(real)) {
    const name = basename(real).replace(/\.wasm$/i, "");
    return { kind: "bare", root: dirname(real), name, componentPath: real };
  }
  throw new CapsuleError(
    "capsule.bad_file",
    `Load capsule ${printableLine(path)}: wanted a folder, a ${MANIFEST_NAME} or a .wasm component`,
  );
}

/** Whether a capsule is an agent: a model with tools, and no component of its own. */
export function isAgent(capsule: Capsule): capsule is AgentCapsule {
  return capsule.componentPath === undefined;
}

/**
 * A capsule that must be a command or a service.
 * @throws {CapsuleError} `capsule.is_agent`
 */
export function commandOf(capsule: Capsule): CommandCapsule {
  if (!isAgent(capsule)) return capsule;
  const name = printableLine(capsule.name, 80);
  throw new CapsuleError(
    "capsule.is_agent",
    `Use ${name}: it is an agent, which has no component; use boll run, chat or serve`,
  );
}

/** The file that names a capsule in records: its manifest, or a bare component. */
export function capsulePath(capsule: Capsule): string {
  return isAgent(capsule) ? capsule.manifestPath : capsule.manifestPath ?? capsule.componentPath;
}

async function loadFolder(root: string, asked: string): Promise<Capsule> {
  const manifestPath = join(root, MANIFEST_NAME);
  const shown = basename(asked) === MANIFEST_NAME ? asked : join(asked, MANIFEST_NAME);
  if (!exists(manifestPath)) {
    throw new CapsuleError(
      "manifest.not_found",
      `Load capsule ${printableLine(asked)}: found no ${MANIFEST_NAME} in it`,
    );
  }
  const { text, bytes } = readText(manifestPath, { code: "manifest.unreadable", maxBytes: MAX_MANIFEST_BYTES });
  const { parseManifest } = await import("./parse_manifest.ts");
  const manifest = parseManifest(text, shown);
  const found = {
    kind: "manifest",
    root,
    name: manifest.name,
    version: manifest.version,
    manifestPath,
    manifestDigest: digestBytes(bytes),
  } as const;
  const resolve = (path: string, name: string) => resolveNamedFile(manifest, root, { path, name, file: shown });
  const { inference, component } = manifest;
  if (inference !== undefined) return { ...found, ...loadAgent({ ...manifest, inference }, root, resolve) };
  if (component === undefined) throw new TypeError("A manifest has neither a component nor inference");
  return { ...found, componentPath: resolve("component", component), manifest };
}

type ResolveFile = (path: string, name: string) => string;

/** What only an agent has; its prompt and its playbook are read at once, its skills when the model asks for them. */
function loadAgent(
  manifest: AgentManifest,
  root: string,
  resolve: ResolveFile,
): Pick<AgentCapsule, "manifest" | "tools" | "skills" | "systemPrompt" | "playbook" | "readFiles"> {
  const readFiles: Record<string, string> = {};
  const read = (path: string, name: string): string => {
    const real = resolve(path, name);
    const { text, bytes } = readText(real, { code: "capsule.bad_file", maxBytes: MAX_NAMED_TEXT_BYTES });
    readFiles[relative(root, real)] = digestBytes(bytes);
    return text;
  };
  const { uri, dialect, system_prompt, system_prompt_file } = manifest.inference;
  const systemPrompt = system_prompt_file === undefined
    ? system_prompt
    : read("inference.system_prompt_file", system_prompt_file);
  return {
    manifest,
    tools: manifest.tools.map(({ name, component, grants }, index) => ({
      name,
      componentPath: resolve(`tools[${index}].component`, component),
      ...(grants === undefined ? {} : { grants }),
    })),
    skills: manifest.skills.map(({ name, description, file }, index) => {
      const path = `skills[${index}].file`;
      read(path, file);
      return { name, description, path: resolve(path, file) };
    }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(dialect === "scripted" && uri !== undefined ? { playbook: read("inference.uri", uri) } : {}),
    readFiles,
  };
}

/** A file that a manifest names, as a real path inside the capsule's folder. */
function resolveNamedFile(
  manifest: Manifest,
  root: string,
  named: { readonly path: string; readonly name: string; readonly file: string },
): string {
  const { line, column } = manifest.positions.at(named.path);
  const refuse = (why: string) => {
    const name = printableLine(JSON.stringify(named.name), 200);
    const where = `${printableLine(named.file)}:${line}:${column}`;
    return new CapsuleError("capsule.bad_file", `${where}: ${named.path}: found ${name}, ${why}`);
  };
  let real: string;
  let isFile: boolean;
  try {
    real = Deno.realPathSync(join(root, named.name));
    isFile = Deno.statSync(real).isFile;
  } catch {
    throw refuse("but no such file is in the capsule's folder; build it first, or correct the name");
  }
  if (!real.startsWith(`${root === "/" ? "" : root}/`)) throw refuse("but it leads out of the capsule's folder");
  if (!isFile) throw refuse("wanted a regular file");
  return real;
}

function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound ? "found nothing there" : "it cannot be read";
    throw new CapsuleError("capsule.not_found", `Load capsule ${printableLine(path)}: ${why}`, { cause: error });
  }
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
