/** A folder of more names than a cell could hold, as a guest sees it. */
import type { Bed } from "../harness.ts";

/** Hard links to one file that every file system allows. */
const LINKS_OF_A_FILE = 30_000;

/** What a guest saw of the folder: its count of names or a WASI error, and the same of moving it up; how the run ended. */
export interface LargeFolderSeen {
  readonly listed: { readonly ok?: number; readonly err?: string } | undefined;
  readonly moved: { readonly ok?: null; readonly err?: string } | undefined;
  readonly endedBy: unknown;
  readonly code: number;
}

/** Makes a folder of `count` names, has a guest with `memory` list it and move it up, and removes it again. */
export async function tryLargeFolder(bed: Bed, count: number, memory: string): Promise<LargeFolderSeen> {
  const work = bed.folder(`of-${count}`, { "outer/inner/file-0000000": "" });
  fill(`${work}/outer/inner`, count);
  try {
    const { value, code, stderr } = await bed.probe(
      `const stream = attempt(() => open("/work/outer/inner", { read: true, directory: true }).readDirectory());
      const count = () => {
        let names = 0;
        while (stream.ok.readDirectoryEntry()) names++;
        return names;
      };
      const listed = stream.err === undefined ? attempt(count) : { err: stream.err };
      return { listed, moved: attempt(() => rename("/work/outer/inner", "/work/inner")) };`,
      { flags: ["--mount", `${work}:/work:rw`, "--memory", memory], safetyNetMs: 240_000 },
    );
    const endedBy = bed.trace().at(-1)?.["ended_by"];
    if (value === undefined) throw new Error(`List ${count} names: exit ${code}, ended by ${endedBy}\n${stderr}`);
    return { ...value as Pick<LargeFolderSeen, "listed" | "moved">, endedBy, code };
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** Hard links are the cheapest names there are. */
function fill(folder: string, count: number): void {
  let file = `${folder}/file-0000000`;
  for (let at = 1; at < count; at++) {
    const name = `${folder}/file-${String(at).padStart(7, "0")}`;
    if (at % LINKS_OF_A_FILE === 0) Deno.writeTextFileSync(file = name, "");
    else Deno.linkSync(file, name);
  }
}
