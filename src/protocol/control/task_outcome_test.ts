import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { distil, MAX_DISTILLED_BYTES } from "./mod.ts";

const CUT = " … [truncated]";

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

Deno.test("distil: a text of 8000 bytes stays, one byte more is cut and marked", () => {
  assertEquals(MAX_DISTILLED_BYTES, 8_000);
  const fits = "x".repeat(MAX_DISTILLED_BYTES);
  for (const text of ["", fits.slice(1), fits]) assertEquals(distil(text), text);
  assertEquals(distil(`${fits}x`), `${fits}${CUT}`);
});

Deno.test("distil: no character of two, three or four bytes is cut in its middle", () => {
  for (const character of ["é", "漢", "😀"]) {
    const size = bytesOf(character);
    for (let shift = 0; shift < size; shift++) {
      const kept = "x".repeat(shift) + character.repeat(Math.floor((MAX_DISTILLED_BYTES - shift) / size));
      assertEquals(distil(kept), kept);
      assertEquals(distil(kept + character), kept + CUT, `${character} after ${shift}`);
      assertEquals(distil(kept + character.repeat(9)), kept + CUT);
    }
  }
});

Deno.test("distil: what is no text stays whole", () => {
  const long = "x".repeat(9_000);
  for (const value of [null, 7, true, [long], { text: long }]) assertEquals(distil(value), value);
});

Deno.test("distil: of any text, a beginning that fits, and the same again when distilled again", () => {
  const text = fc.string({ unit: "grapheme", minLength: 7_000, maxLength: 9_000, size: "max" });
  const lone = fc.constantFrom("", "\ud800", "\udc00", CUT);
  fc.assert(
    fc.property(text, lone, (text, lone) => {
      const distilled = distil(text + lone) as string;
      assertEquals(distil(distilled), distilled);
      if (distilled === text + lone) return;
      const kept = distilled.slice(0, -CUT.length);
      assertEquals([distilled, text.startsWith(kept)], [kept + CUT, true]);
      assertEquals(bytesOf(kept) <= MAX_DISTILLED_BYTES && bytesOf(kept) > MAX_DISTILLED_BYTES - 4, true);
    }),
    { numRuns: 60, seed: 8_000 },
  );
});
