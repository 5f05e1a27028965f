import { CapsuleError, printableJson, printableLine } from "../../base/mod.ts";
import { type Capsule, digestCapsule, isAgent, loadCapsule } from "../../manifest/mod.ts";
import type { Verb } from "../verb.ts";

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
    for (const component of componentsOf(capsule)) checkMagic(component, capsule);
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

/** A component's file, and where the manifest names it. */
interface Named {
  readonly path: string;
  readonly key: string;
}

function componentsOf(capsule: Capsule): readonly Named[] {
  if (!isAgent(capsule)) return [{ path: capsule.componentPath, key: "component" }];
  return capsule.tools.map(({ componentPath: path }, index) => ({ path, key: `tools[${index}].component` }));
}

/** The first bytes alone: what is in a component is a build cell's to read. */
function checkMagic({ path, key }: Named, { manifestPath, manifest }: Capsule): void {
  using file = Deno.openSync(path);
  const head = new Uint8Array(4);
  if (file.readSync(head) === 4 && new TextDecoder().decode(head) === "\0asm") return;
  const place = manifestPath === undefined ? "" : `${manifestPath}:${manifest?.positions.lineOf(key)}: `;
  throw new CapsuleError(
    "component.not_wasm",
    `Check component: ${printableLine(`${place}${path}`)} is no WebAssembly; name the .wasm file`,
  );
}
