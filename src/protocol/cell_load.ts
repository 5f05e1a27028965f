import type { Grants } from "../grants/mod.ts";
import { Fields, pairItem, textItem } from "./fields.ts";
import { decodeGrants } from "./decode_grants.ts";
import { MAX_TOOL_NAME } from "./tool_messages.ts";

/** The most tools of one cell. */
const MAX_TOOLS = 100;

/** One file of a cached component: name, SHA-256 (lower-case hex), size in bytes. */
export interface CellFile {
  readonly name: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** One linear memory and its cap, in its own pages. */
export interface CellMemory {
  readonly module: string;
  readonly page_bytes: number;
  readonly min_pages: number;
  readonly max_pages: number;
}

/** Where a cell finds and keeps things: absolute real paths. */
export interface CellFolders {
  /** The component's folder in the cache. */
  readonly cache: string;
  /** The cell's private HOME and TMPDIR. */
  readonly tmp: string;
  /** The work folder, when it is granted. */
  readonly work?: string;
}

/** A cell's way to the network: the gate in its parent. The credential is the host's and never the guest's. */
export interface CellNetwork {
  /** On 127.0.0.1. */
  readonly gate_port: number;
  /** For this cell alone. */
  readonly credential: string;
  /** PEM certificates to trust beside the built-in ones. */
  readonly ca_certs: readonly string[];
  /** The peers of `udp` entries, as `address:port`, resolved by the parent. */
  readonly udp_peers: readonly string[];
}

/** What a run cell is given, first and once: its whole authority and what to run. */
export interface RunLoad {
  readonly type: "load";
  readonly kind: "run";
  /** Limits and mounts (with their hosts) are inside. */
  readonly grants: Grants;
  readonly args: readonly string[];
  readonly env: readonly (readonly [string, string])[];
  readonly folders: CellFolders;
  readonly component: {
    readonly key: string;
    readonly glue: CellFile;
    /** The engine's code of the glue. */
    readonly code: CellFile;
    readonly modules: readonly CellFile[];
    readonly memories: readonly CellMemory[];
  };
  /** The parts of wall 4 that this host has, to be raised (none under `deno run`, where no hull can hold). */
  readonly kernel: { readonly landlock: boolean; readonly seccomp: boolean };
  /** The way out; present exactly when `grants.net` is not empty. */
  readonly network?: CellNetwork;
  /** Which of descriptors 0-2 are terminals, as the user's own process sees them. */
  readonly terminal: readonly [boolean, boolean, boolean];
}

/** What a serving cell is given, first and once: as a run cell, and how many requests it works on at once. */
export interface ServeLoad extends Omit<RunLoad, "kind" | "terminal"> {
  readonly kind: "serve";
  /** 1 to 1000. */
  readonly concurrency: number;
}

/** One tool of a cell: its name, and its component in the cache. */
export interface LoadedTool {
  readonly name: string;
  /** The component's folder in the cache. */
  readonly folder: string;
  readonly component: RunLoad["component"];
}

/** What a cell of tools is given, first and once: the one authority of all of them, and the components. */
export interface ToolsLoad extends Omit<RunLoad, "kind" | "terminal" | "component" | "folders" | "args"> {
  readonly kind: "tools";
  readonly folders: Omit<CellFolders, "cache">;
  /** 1 to 100, each name once. */
  readonly tools: readonly LoadedTool[];
}

/** What a build cell is given: a component to describe, check and transpile into `folder`. */
export interface BuildLoad {
  readonly type: "load";
  readonly kind: "build";
  readonly component: string;
  /** `sha256:<hex>` of the bytes that are wanted: what else lies there by now is refused. */
  readonly digest: string;
  readonly folder: string;
  readonly tmp: string;
  readonly memory_mb: number;
  readonly hull: boolean;
}

/** @throws `protocol.bad_field` naming the field */
export function decodeLoad(fields: Fields): RunLoad | ServeLoad | ToolsLoad | BuildLoad {
  switch (fields.oneOf("kind", ["run", "serve", "tools", "build"])) {
    case "run": {
      const terminal = fields.list("terminal", (item) => item === true, { max: 3 });
      return {
        ...decodeGuestLoad(fields),
        kind: "run",
        terminal: [terminal[0] === true, terminal[1] === true, terminal[2] === true],
      };
    }
    case "serve":
      return {
        ...decodeGuestLoad(fields),
        kind: "serve",
        concurrency: fields.integer("concurrency", { min: 1, max: 1_000 }),
      };
    case "tools":
      return decodeToolsLoad(fields);
    case "build":
      return decodeBuildLoad(fields);
  }
}

function decodeGuestLoad(fields: Fields): Omit<RunLoad, "kind" | "terminal"> {
  const folders = fields.object("folders");
  return {
    ...decodeAuthority(fields),
    args: fields.list("args", textItem),
    folders: { cache: folders.string("cache"), ...decodeFolders(folders) },
    component: decodeComponent(fields.object("component")),
  };
}

function decodeToolsLoad(fields: Fields): ToolsLoad {
  const tools = fields.list("tools", (item, path) => decodeTool(new Fields(item, path)), { max: MAX_TOOLS });
  if (tools.length === 0 || new Set(tools.map(({ name }) => name)).size !== tools.length) {
    fields.fail("tools", `a list of 1 to ${MAX_TOOLS}, each name once`);
  }
  return {
    ...decodeAuthority(fields),
    kind: "tools",
    folders: decodeFolders(fields.object("folders")),
    tools,
  };
}

/** What every guest is given, whatever its kind. */
function decodeAuthority(fields: Fields): Pick<RunLoad, "type" | "grants" | "env" | "kernel" | "network"> {
  const kernel = fields.object("kernel");
  return {
    type: "load",
    grants: decodeGrants(fields.object("grants")),
    env: fields.list("env", pairItem),
    kernel: { landlock: kernel.boolean("landlock"), seccomp: kernel.boolean("seccomp") },
    ...fields.optional("network", (name) => decodeNetwork(fields.object(name))),
  };
}

function decodeFolders(folders: Fields): Omit<CellFolders, "cache"> {
  return { tmp: folders.string("tmp"), ...folders.optional("work", (name) => folders.string(name)) };
}

function decodeTool(tool: Fields): LoadedTool {
  return {
    name: tool.string("name", { max: MAX_TOOL_NAME }),
    folder: tool.string("folder"),
    component: decodeComponent(tool.object("component")),
  };
}

function decodeComponent(component: Fields): RunLoad["component"] {
  return {
    key: component.string("key", { max: 256 }),
    glue: decodeFile(component.object("glue")),
    code: decodeFile(component.object("code")),
    modules: component.list("modules", (item, path) => decodeFile(new Fields(item, path)), { max: 4_096 }),
    memories: component.list("memories", (item, path) => decodeMemory(new Fields(item, path)), { max: 4_096 }),
  };
}

function decodeBuildLoad(fields: Fields): BuildLoad {
  return {
    type: "load",
    kind: "build",
    component: fields.string("component"),
    digest: fields.string("digest", { max: 71 }),
    folder: fields.string("folder"),
    tmp: fields.string("tmp"),
    memory_mb: fields.integer("memory_mb"),
    hull: fields.boolean("hull"),
  };
}

function decodeNetwork(fields: Fields): CellNetwork {
  return {
    gate_port: fields.integer("gate_port"),
    credential: fields.string("credential", { max: 256 }),
    ca_certs: fields.list("ca_certs", textItem),
    udp_peers: fields.list("udp_peers", textItem, { max: 4_096 }),
  };
}

function decodeFile(fields: Fields): CellFile {
  return {
    name: fields.string("name", { max: 256 }),
    sha256: fields.string("sha256", { max: 64 }),
    bytes: fields.integer("bytes"),
  };
}

function decodeMemory(fields: Fields): CellMemory {
  return {
    module: fields.string("module", { max: 256 }),
    page_bytes: fields.integer("page_bytes"),
    min_pages: fields.integer("min_pages"),
    max_pages: fields.integer("max_pages"),
  };
}
