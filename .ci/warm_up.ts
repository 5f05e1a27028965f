import { join } from "@std/path";
import type { WarmUp } from "./code_cache.ts";

/** Prints a line, by standard streams alone: its cell needs no thread of its own. */
const PRINTS = "tests/fixtures/guests/hello_stdio.wat";
/** Reads and writes files. */
const READS = "tests/bench/file_operations.wat";
/** Delegates to the capsule that its argument names. */
const DELEGATES = "tests/fixtures/guests/pass_on.wat";
/** A tool; its answer of four bytes is replaced. */
const TOOL = "tests/fixtures/guests/tool_bad_text.wat";

/** The name of the tool in its capsules. */
const TOOL_NAME = "tool-bad-text";

const USAGE = { input_tokens: 1, output_tokens: 1 };
const TURNS = [
  { tool_calls: [{ name: TOOL_NAME, arguments: {} }], usage: USAGE },
  { text: "done", usage: USAGE },
];

/** So often a model on the wire plays its turns. */
const MAX_RUNS = 40;

/** Work, and what it needs while it is done. */
export interface WarmUps extends AsyncDisposable {
  readonly all: readonly WarmUp[];
}

/**
 * What a user does most: a guest that only prints, and one with files that a capsule describes; a capsule that delegates
 * to another; an agent with a tool, whose model is scripted or behind either wire; and a tool by itself. A supervisor of
 * sessions does not compile the same in the same order twice: it is given no code.
 */
export async function makeWarmUps(scratch: string): Promise<WarmUps> {
  // The tools read files from their import on.
  const { buildText } = await import("../tests/fixtures/build.ts");
  const { ModelServer } = await import("../tests/models/model_server.ts");
  const text = (path: string) => Deno.readTextFileSync(join(import.meta.dirname!, "..", path));
  const root = join(scratch, "workspace");
  const data = join(scratch, "data");
  for (const folder of [root, data]) Deno.mkdirSync(folder);
  Deno.writeFileSync(join(data, "bench.bin"), new Uint8Array(4096));
  Deno.writeTextFileSync(join(root, "boll.jsonc"), `{ "capsules": ["*"] }`);
  const prints = await buildText(text(PRINTS));
  const reads = await buildText(text(READS).replaceAll("OPERATION", "read_file").replaceAll("COUNT", "2"));
  const tool = await buildText(text(TOOL).replace("a\\ff\\e2\\82", "done"));
  const capsule = (name: string, component: Uint8Array, manifest: object) => {
    const folder = join(root, name);
    Deno.mkdirSync(folder);
    Deno.writeFileSync(join(folder, "component.wasm"), component);
    Deno.writeTextFileSync(join(folder, "capsule.jsonc"), JSON.stringify({ name, version: "1.0.0", ...manifest }));
    return folder;
  };
  const command = (name: string, component: Uint8Array, manifest = {}) =>
    capsule(name, component, { component: "component.wasm", ...manifest });
  const agent = (name: string, inference: object) =>
    capsule(name, tool, {
      inference,
      tools: [{ name: TOOL_NAME, component: "component.wasm" }],
      grants: { fs: { mounts: [{ guest: "/data", mode: "ro" }] } },
    });

  const server = ModelServer.start({ turns: Array.from({ length: MAX_RUNS }, () => TURNS).flat() });
  const scripted = agent("scripted", { dialect: "scripted", uri: "turns.json" });
  Deno.writeTextFileSync(join(scripted, "turns.json"), JSON.stringify({ turns: TURNS }));
  const openai = agent("openai", { dialect: "openai", uri: server.url, model: "warm-up" });
  const anthropic = agent("anthropic", { dialect: "anthropic", uri: server.url, model: "warm-up" });
  const reader = command("reader", reads);
  command("printer", prints);
  const delegating = command("delegating", await buildText(text(DELEGATES)), {
    args: ["printer"],
    grants: { spawn: ["printer"] },
  });

  const [quiet, mount] = [["--quiet", "--accept"], (mode: string) => ["--mount", `${data}:/data:${mode}`]];
  const run = ["run", ...quiet];
  return {
    all: [
      { args: [...run, join(root, "printer", "component.wasm")], roles: ["cell.js"] },
      { args: [...run, ...mount("rw"), reader], roles: ["cli.js", "worker.js"] },
      { args: [...run, ...mount("ro"), scripted, "go"], roles: ["session.js", "loop.js", "worker.js"] },
      { args: [...run, ...mount("ro"), openai, "go"], roles: ["loop.js"] },
      { args: [...run, ...mount("ro"), anthropic, "go"], roles: ["loop.js"] },
      { args: ["lock", root], roles: [] },
      { args: [...run, delegating], roles: ["session.js"] },
      { args: ["tool", ...quiet, ...mount("ro"), scripted, TOOL_NAME, "{}"], roles: ["cli.js"] },
    ],
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
