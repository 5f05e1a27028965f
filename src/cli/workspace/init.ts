import { join, resolve } from "@std/path";
import { CapsuleError, printableJson, printableLine, writeAll } from "../../base/mod.ts";
import { openTrust, readWorkspace, type Workspace } from "../../manifest/mod.ts";
import { openHome } from "../../records/mod.ts";
import type { Verb } from "../verb.ts";

/** Name of a workspace's file. */
const WORKSPACE_FILE = "boll.jsonc";

/** What a new workspace says: the default, and what else could stand there. */
const TEMPLATE = `{
  // Folders of your own capsules: what their manifests ask for is your word. Others are foreign, and ask first.
  "capsules": ["capsules/*"],

  // The most that any capsule below this folder may have, whoever it belongs to:
  // "ceiling": { "fs": { "work": "rw" }, "limits": { "memory_mb": 512 } }
}
`;

/** `boll init [DIR]`: makes a workspace and stores trust in it. */
export const verb: Verb = {
  name: "init",
  summary: "Make a workspace that trusts its capsules",
  usage: "init [DIR] [options]",
  operands: { min: 0, max: 1, names: ["DIR"] },
  options: [
    { name: "accept", summary: "Trust the boll.jsonc that is there, as it is now" },
    { name: "json", summary: "Print JSON" },
  ],
  notes: [
    "Writes DIR/boll.jsonc (default: here) and trusts it: the capsules that its globs",
    "match are your own. After you edit it, `boll init --accept` trusts it again.",
  ],
  async run(args, context) {
    const path = join(resolve(args.operands[0] ?? "."), WORKSPACE_FILE);
    const trust = openTrust(openHome(context.readVariable).root);
    const isNew = !args.has("accept");
    if (isNew) writeNew(path);
    let workspace: Workspace;
    try {
      workspace = await readWorkspace(path);
      trust.trustWorkspace(workspace);
    } catch (error) {
      // A workspace that could not be trusted is not left behind to be found untrusted.
      if (isNew) Deno.removeSync(path);
      throw error;
    }
    if (args.has("json")) {
      const { capsules, digest } = workspace;
      context.stdout.write(printableJson({ workspace: workspace.path, created: isNew, capsules, digest }) + "\n");
    } else {
      const globs = workspace.capsules.map((glob) => printableLine(glob)).join(", ");
      const did = isNew ? "Wrote and trusts" : "Trusts";
      context.stdout.write(`${did} ${printableLine(workspace.path)}\nYour own capsules: ${globs}\n`);
    }
    return 0;
  },
};

function writeNew(path: string): void {
  try {
    Deno.mkdirSync(join(path, ".."), { recursive: true });
    // createNew also refuses a link, wherever it points.
    using file = Deno.openSync(path, { write: true, createNew: true, mode: 0o644 });
    writeAll(file, new TextEncoder().encode(TEMPLATE));
  } catch (error) {
    const shown = printableLine(path);
    if (error instanceof Deno.errors.AlreadyExists) {
      const hint = "edit it and run `boll init --accept`, or remove it first";
      throw new CapsuleError("workspace.exists", `Write workspace: ${shown} exists already; ${hint}`, { cause: error });
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new CapsuleError("workspace.invalid", `Write workspace: ${shown} cannot be written (${reason})`, {
      cause: error,
    });
  }
}
