import { assertEquals } from "@std/assert";
import { readWholeAnswer } from "./agent_ending.ts";

Deno.test("readWholeAnswer: the answer that is there; nothing where a session left a link in its place, or in that of a folder", () => {
  const root = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    const other = `${root}/other`;
    Deno.mkdirSync(`${other}/out`, { recursive: true });
    Deno.writeTextFileSync(`${other}/out/result.txt`, "another session's");
    const places = (name: string) => ({ records: `${root}/${name}`, out: `${root}/${name}/out` });
    assertEquals(readWholeAnswer(places("other")), "another session's");
    assertEquals([readWholeAnswer(undefined), readWholeAnswer(places("none"))], ["", ""]);
    Deno.symlinkSync(other, `${root}/records-link`);
    assertEquals(readWholeAnswer(places("records-link")), "");
    Deno.mkdirSync(`${root}/out-link`);
    Deno.symlinkSync(`${other}/out`, `${root}/out-link/out`);
    assertEquals(readWholeAnswer(places("out-link")), "");
    Deno.mkdirSync(`${root}/file-link/out`, { recursive: true });
    Deno.symlinkSync(`${other}/out/result.txt`, `${root}/file-link/out/result.txt`);
    assertEquals(readWholeAnswer(places("file-link")), "");
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
