import { createHash } from "node:crypto";
import { printableJson } from "../../base/mod.ts";
import { BUILD_INFO } from "./build_info.ts";
import type { Verb } from "../verb.ts";

/** The versions of a build; `boll version --json` adds `sha256`, which names the very executable. */
export interface VersionReport {
  readonly boll: string;
  /** What the executable was made from; `source` under `deno run`. */
  readonly base: string;
  readonly deno: string;
  readonly v8: string;
  readonly transpiler: string;
  /** The platform this build is for, as a target triple. */
  readonly target: string;
}

/** `boll version`: what this build is made of. */
export const verb: Verb = {
  name: "version",
  summary: "Show this build's versions",
  usage: "version [options]",
  operands: { min: 0, max: 0, names: [] },
  options: [{ name: "json", summary: "Print JSON" }],
  async run(args, context) {
    const report = await versionReport();
    const print = () => printableJson({ ...report, sha256: digestOfExecutable() }) + "\n";
    context.stdout.write(args.has("json") ? print() : versionText(report));
    return 0;
  },
};

/** The versions of this very process. */
export async function versionReport(): Promise<VersionReport> {
  const { TOOL_VERSION } = await import("../../component/mod.ts");
  return {
    boll: BUILD_INFO.version,
    base: BUILD_INFO.base,
    deno: Deno.version.deno,
    v8: Deno.version.v8,
    transpiler: TOOL_VERSION,
    target: Deno.build.target,
  };
}

/**
 * SHA-256 of this executable, hex: what `make build` prints and the bill of materials beside it names. Null under
 * `deno run`, where the checkout is what runs.
 */
function digestOfExecutable(): string | null {
  if (!Deno.build.standalone) return null;
  using file = Deno.openSync(Deno.execPath());
  const hash = createHash("sha256");
  const chunk = new Uint8Array(1 << 20);
  for (let length = file.readSync(chunk); length !== null; length = file.readSync(chunk)) {
    hash.update(chunk.subarray(0, length));
  }
  return hash.digest("hex");
}

const BASE_NOTES: Readonly<Record<string, string>> = {
  unofficial: " (a third party's copy of the runtime: for tests, not for a release)",
  source: " (deno run; the compiled executable has all walls)",
};

function versionText(report: VersionReport): string {
  const { boll, ...parts } = report;
  const lines = Object.entries({ ...parts, base: parts.base + (BASE_NOTES[parts.base] ?? "") });
  return [`boll ${boll}`, ...lines.map(([name, value]) => `${name}: ${value}`), ""].join("\n");
}
