/** Component bytes: built in this process for volume, and in a real build cell and a real guest's cell for a sample. */
import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import fc from "fast-check";
import { errorCodeOf, EXIT_STATUS } from "../../src/base/mod.ts";
import { buildComponent } from "../../src/component/build.ts";
import { decodeBuildResult } from "../../src/component/build_result.ts";
import { inFolder } from "../../src/component/component_fixture.ts";
import { loadCached } from "../../src/component/mod.ts";
import { Bed } from "../harness.ts";
import { byteMutation, mutateBytes } from "./byte_mutation.ts";
import { largeComponents, smallComponents } from "./components.ts";
import { fuzz, lateRefusalOf } from "./fuzz.ts";
import { keptBytes } from "./kept_cases.ts";
import { mutateSections, sectionMutation } from "./section_mutation.ts";

const MEMORY_MB = 16;
const small = await smallComponents();
const large = await largeComponents();

function damaged(bases: readonly Uint8Array[], least: number): fc.Arbitrary<Uint8Array> {
  return fc.tuple(
    fc.constantFrom(...bases),
    fc.array(sectionMutation, { minLength: least, maxLength: 3 }),
    fc.constantFrom(...small),
    fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(byteMutation(), { maxLength: 2 })),
  ).map(([base, changes, donor, wrongs]) => mutateBytes(mutateSections(base, changes, donor), wrongs));
}

/** How often the glue instantiates the module of this file. */
function instancesOf(glue: string, file: string): number {
  const [, id] = new RegExp(`const (module\\d+) = getCoreModule\\('${file.replaceAll(".", "\\.")}'\\)`).exec(glue) ??
    [];
  assert(id !== undefined, `the glue does not load ${file}`);
  return glue.split(`instantiateCore(yield ${id})`).length - 1 + glue.split(`instantiateCore(yield ${id},`).length - 1;
}

/** Builds as a build cell does, adopts as its parent does, and compiles what was adopted. */
async function build(bytes: Uint8Array): Promise<void> {
  await inFolder(async (folder) => {
    let built: unknown;
    const refusal = await lateRefusalOf(async () => {
      built = await buildComponent(bytes, folder, { memoryMb: MEMORY_MB });
    });
    if (refusal !== undefined) return assert(/^component\./.test(errorCodeOf(refusal)!), errorCodeOf(refusal));
    const result = decodeBuildResult(JSON.parse(JSON.stringify(built)));
    const { glueSource } = loadCached({ dir: folder, ...result });
    const cap = result.description.memories.reduce(
      (sum, { module, max_pages, page_bytes }) => sum + instancesOf(glueSource, module) * max_pages * page_bytes,
      0,
    );
    assert(cap <= MEMORY_MB * 2 ** 20, `${cap} bytes of memory`);
  });
}

fuzz("a damaged component is refused by name, or built, capped and compiled", {
  input: damaged(small, 1),
  kept: keptBytes("component"),
  runs: 160,
  check: build,
});

fuzz("a damaged component with a whole engine in it is refused by name, or built, capped and compiled", {
  input: damaged(large, 1),
  runs: 6,
  check: build,
});

const codes = new Set<number>([0, 1, 124, ...Object.values(EXIT_STATUS), 3, 8]);

fuzz("a damaged component given to boll run is refused or run below its limits, and boll says how it ended", {
  input: damaged(small, 0),
  kept: keptBytes("component"),
  runs: 12,
  costly: true,
  async check(bytes) {
    await using bed = new Bed("binary");
    const path = join(bed.folder("guest"), "guest.wasm");
    Deno.writeFileSync(path, bytes);
    const flags = ["--memory", `${MEMORY_MB}m`, "--deadline", "2s", "--json"];
    const { code, signal, stderr, json } = await bed.run(["run", path, ...flags]);
    assertEquals(signal, null);
    assert(codes.has(code), `exit code ${code}: ${stderr}`);
    assertEquals(json?.exit_code, code, stderr);
    assert(!/\bat .*\.(ts|js):\d+:\d+|panicked|Uncaught|\bfatal\b/i.test(stderr), stderr);
    assertEquals(bed.trace().at(-1)?.event, "session_end");
  },
});
