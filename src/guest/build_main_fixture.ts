/** A build without a kernel wall, in a thread that has permissions of its own: what it had before and what is left. */
import type { BuildLoad } from "../protocol/mod.ts";
import { buildInCell } from "./build_main.ts";
import type { CellChannel } from "./channel.ts";

const NAMES = ["net", "env", "run", "ffi", "sys", "import", "read"] as const;
const granted = () => NAMES.filter((name) => Deno.permissions.querySync({ name }).state === "granted");

const missing = "/nowhere/component.wasm";
const load: BuildLoad = {
  type: "load",
  kind: "build",
  component: missing,
  digest: "sha256:none",
  folder: "/nowhere",
  tmp: "/nowhere",
  memory_mb: 1,
  hull: false,
};
const before = granted();
// It confines itself before it looks at the component, of which there is none.
const error = await buildInCell(load, {} as CellChannel, undefined).catch((error: unknown) => error);
(self as unknown as Pick<Worker, "postMessage">).postMessage({
  before,
  after: granted(),
  error: error instanceof Error ? error.name : "none",
});
