import { assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import { MAX_UNHEARD, UnheardEnds } from "./unheard_ends.ts";

const END = { text: "", status: "ok", duration_ms: 1 };

Deno.test("UnheardEnds: refuses at the bound and not below it, and counts none that is asked for or was", async () => {
  const ends = new UnheardEnds();
  const end = Promise.withResolvers<typeof END>();
  for (let i = 0; i < MAX_UNHEARD; i++) {
    assertEquals(ends.refusal, undefined);
    ends.add(`dlg_${i}`, i === 0 ? end.promise : Promise.resolve({ ...END, duration_ms: i }));
  }
  assertEquals(ends.refusal?.endsWith("(unheard)"), true);
  const asked = ends.take("dlg_0");
  assertEquals(ends.refusal, undefined);
  ends.add("dlg_more", Promise.resolve(END));
  assertEquals(ends.refusal?.endsWith("(unheard)"), true);
  end.resolve(END);
  await asked;
  assertEquals(ends.refusal?.endsWith("(unheard)"), true);
  for (let i = 1; i < MAX_UNHEARD; i++) assertEquals((await ends.take(`dlg_${i}`)).duration_ms, i);
  assertEquals(ends.refusal, undefined);
});

Deno.test("UnheardEnds.take: what failed is told and forgotten, and what is not there is refused", async () => {
  const ends = new UnheardEnds(1);
  const failed = Promise.reject(new Error("lost"));
  failed.catch(() => {});
  ends.add("dlg_1", failed);
  await assertRejects(() => ends.take("dlg_1"), Error, "lost");
  assertEquals(ends.refusal, undefined);
  await assertRejects(() => ends.take("dlg_1"), CapsuleError, "none of that id");
});
