import { assertEquals } from "@std/assert";
import { readLivingAnswer } from "./living_answer.ts";

Deno.test("readLivingAnswer: what is in the session's own folder, and nothing that a link in its place leads to", () => {
  const root = Deno.makeTempDirSync({ prefix: "boll-answer-" });
  try {
    const places = { records: `${root}/records`, out: `${root}/records/out` };
    for (const folder of [places.out, `${root}/outside/out`]) Deno.mkdirSync(folder, { recursive: true });
    Deno.writeTextFileSync(`${root}/outside/out/result.txt`, "another's");
    assertEquals(readLivingAnswer(places), undefined);
    Deno.writeTextFileSync(`${places.out}/result.txt`, "\ufeffown");
    assertEquals(readLivingAnswer(places), "\ufeffown");
    Deno.removeSync(`${places.out}/result.txt`);
    Deno.symlinkSync(`${root}/outside/out/result.txt`, `${places.out}/result.txt`);
    assertEquals(readLivingAnswer(places), undefined);
    Deno.removeSync(places.out, { recursive: true });
    Deno.symlinkSync(`${root}/outside/out`, places.out);
    assertEquals(readLivingAnswer(places), undefined);
    Deno.removeSync(places.records, { recursive: true });
    Deno.symlinkSync(`${root}/outside`, places.records);
    assertEquals(readLivingAnswer(places), undefined);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
