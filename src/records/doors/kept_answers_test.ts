import { assertEquals } from "@std/assert";
import { KeptAnswers } from "../mod.ts";

Deno.test("KeptAnswers: so many and so many bytes, the oldest go; the newest stays however large", () => {
  const out = Deno.makeTempDirSync({ prefix: "boll-answers-" });
  const names = () => [...Deno.readDirSync(out)].map(({ name }) => name).sort();
  const kept = new KeptAnswers({ out }, { answers: 3, bytes: 100 });
  const end = (id: string, bytes: number) => {
    Deno.writeTextFileSync(`${out}/result_${id}.txt`, "x".repeat(bytes));
    kept.add(id);
    return names().join(" ").replaceAll(/result_|\.txt/g, "");
  };
  try {
    assertEquals(["a", "b", "c", "d"].map((id) => end(id, 10)), ["a", "a b", "a b c", "b c d"]);
    assertEquals([end("e", 80), end("f", 20), end("g", 1)], ["c d e", "e f", "f g"]);
    assertEquals([end("h", 101), end("i", 5)], ["h", "i"]);
    kept.add("left-none");
    assertEquals(end("j", 95), "i j");
    Deno.removeSync(`${out}/result_i.txt`);
    assertEquals(end("k", 95), "k");
  } finally {
    Deno.removeSync(out, { recursive: true });
  }
});
