import { assert, assertEquals } from "@std/assert";
import { forEachMode } from "../harness.ts";

/** Twice as deep as one path can say, where each name has one letter and its slash. */
const DEPTH = 4096;

/** Nests `deep` in `depth` folders called `d`, from the innermost out: no path is ever long. */
function nest(folder: string, depth: number): void {
  for (let at = 0; at < depth; at++) {
    Deno.mkdirSync(`${folder}/next`);
    Deno.renameSync(`${folder}/deep`, `${folder}/next/d`);
    Deno.renameSync(`${folder}/next`, `${folder}/deep`);
  }
}

/** The other way round; how deep it was. */
function unnest(folder: string): number {
  for (let depth = 0;; depth++) {
    try {
      Deno.renameSync(`${folder}/deep/d`, `${folder}/next`);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return depth;
      throw error;
    }
    Deno.removeSync(`${folder}/deep`);
    Deno.renameSync(`${folder}/next`, `${folder}/deep`);
  }
}

forEachMode(
  "deep folder: a guest walks as deep as a path can say and works there; deeper is name-too-long, and the run ends well",
  async (bed) => {
    const work = bed.folder("work", { "planted/deep/file": "bottom", "short/deep/file": "bottom" });
    const other = bed.folder("other");
    nest(`${work}/planted`, DEPTH);
    nest(`${work}/short`, 100);
    const source = `
      const step = (from, name) => from.openAt({}, name, { directory: true }, { read: true, mutateDirectory: true });
      const names = (folder) => {
        const stream = folder.readDirectory();
        const names = [];
        for (let entry = stream.readDirectoryEntry(); entry; entry = stream.readDirectoryEntry()) names.push(entry.name);
        return names.sort();
      };
      const way = [step(mount("/work"), "planted/deep" + "/d".repeat(1500))];
      let deeper;
      for (deeper = {}; deeper.err === undefined; ) {
        deeper = attempt(() => step(way.at(-1), "d"));
        if (deeper.err === undefined) way.push(deeper.ok);
        if (way.length > 3) way.shift()[Symbol.dispose]();
        depth++;
      }
      const deepest = way.at(-1);
      const above = way.at(-3);
      above.createDirectoryAt("e");
      return {
        refused: [
          deeper.err,
          attempt(() => deepest.statAt({}, "d").type),
          attempt(() => deepest.createDirectoryAt("new-folder")),
          attempt(() => deepest.unlinkFileAt("long-name")),
          attempt(() => stat("/work/planted/deep" + "/d".repeat(${DEPTH}))),
          attempt(() => rename("/work/planted", "/other/planted")),
        ],
        allowed: [
          names(deepest),
          names(above),
          attempt(() => above.removeDirectoryAt("e")),
          names(above),
          readFile("/work/short/deep" + "/d".repeat(100) + "/file"),
          attempt(() => rename("/work/short", "/other/short")),
        ],
        depth,
      };`;
    try {
      const flags = ["--mount", `${work}:/work:rw`, "--mount", `${other}:/other:rw`];
      const { value, code, stderr } = await bed.probe(`let depth = 1500; ${source}`, { flags, safetyNetMs: 240_000 });
      assertEquals(code, 0, stderr);
      const { depth, ...seen } = value as { depth: number };
      const refusal = { err: "name-too-long" };
      assertEquals(seen as unknown, {
        refused: ["name-too-long", refusal, refusal, refusal, refusal, refusal],
        allowed: [["d"], ["d", "e"], { ok: null }, ["d"], "bottom", { ok: null }],
      });
      assert(depth > 1500 && depth < 2048, `${depth} levels`);
      assertEquals(bed.trace().at(-1)?.["ended_by"], "guest");
    } finally {
      // The system's own removal holds a descriptor for each level.
      assertEquals(unnest(`${work}/planted`), DEPTH);
    }
  },
);
