import { CapsuleError, printableJson, printableLine } from "../base/mod.ts";
import { type Capsule, digestCapsule, loadCapsule } from "../manifest/mod.ts";
import type { Verb } from "./verb.ts";

/** `boll check CAPSULE`: reads the manifest and looks at the files it names; builds and runs nothing. */
export const verb: Verb = {
  name: "check",
  summary: "Check a capsule's manifest and files",
  usage: "check CAPSULE [options]",
  operands: { min: 1, max: 1, names: ["CAPSULE"] },
  options: [{ name: "json", summary: "Print JSON" }],
  notes: ["Prints `ok`, or every problem as file:line:column. Nothing is built or run."],
  async run(args, context) {
    const capsule = await loadCapsule(args.operands[0]!);
    checkMagic(capsule);
    const { capsule: digest } = digestCapsule(capsule);
    const { kind, name, version, manifestPath, componentPath } = capsule;
    if (args.has("json")) {
      const report = { ok: true, name, version, kind, manifest: manifestPath, component: componentPath, digest };
      context.stdout.write(printableJson(report) + "\n");
    } else {
      context.stdout.write(`ok: ${printableLine(name)}${version === undefined ? "" : ` ${printableLine(version)}`}\n`);
    }
    return 0;
  },
};

/** The first bytes alone: what is in a component is a build cell's to read. */
function checkMagic({ componentPath, manifestPath, manifest }: Capsule): void {
  using file = Deno.openSync(componentPath);
  const head = new Uint8Array(4);
  if (file.readSync(head) === 4 && new TextDecoder().decode(head) === "\0asm") return;
  const place = manifestPath === undefined ? "" : `${manifestPath}:${manifest?.positions.lineOf("component")}: `;
  throw new CapsuleError(
    "component.not_wasm",
    `Check component: ${printableLine(`${place}${componentPath}`)} is no WebAssembly; name the .wasm file`,
  );
}
