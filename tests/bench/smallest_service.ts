import { join } from "@std/path";
import { componentEmbed, componentNew, parse } from "@bytecodealliance/jco/wasm-tools";

/** The version of WASI in `capsules/wit`. */
const VERSION = "0.2.12";

/** The component of `answer.wat`; `root` is the folder of the repository. */
export async function buildSmallestService(root: string): Promise<Uint8Array> {
  const text = Deno.readTextFileSync(join(import.meta.dirname!, "answer.wat"));
  const options = {
    binary: await parse(text.replaceAll("VERSION", VERSION)),
    witSource: worldOf(join(root, "capsules", "wit", "deps")),
    world: "service",
    stringEncoding: "utf8",
  } as const;
  return await componentNew(await componentEmbed(options), []);
}

/** One text of the world and, nested in it, the packages that it is made of. */
function worldOf(folder: string): string {
  const packages = [...Deno.readDirSync(folder)].map(({ name }) =>
    `${Deno.readTextFileSync(join(folder, name)).replace(/^(package [^;]+);/m, "$1 {")}}`
  );
  const world = ["http/types", "io/streams"].map((name) => `import wasi:${name}@${VERSION};`).join(" ");
  return `package boll:bench;
world service { ${world} export wasi:http/incoming-handler@${VERSION}; }
${packages.join("\n")}
`;
}
