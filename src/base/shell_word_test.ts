import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { shellWord } from "./mod.ts";

Deno.test("shellWord: plain words stay, every other one is what a shell reads as exactly that word", async () => {
  assertEquals(shellWord("./docs:/data:ro"), "./docs:/data:ro");
  assertEquals(shellWord("/d; $(id)"), "'/d; $(id)'");
  assertEquals(shellWord("it's"), "'it'\\''s'");
  const words = fc.sample(fc.string({ minLength: 0, maxLength: 20 }).filter((word) => !word.includes("\0")), 100);
  const script = `printf '%s\\0' ${["", "`id`", "a\nb", "~", "-n", "#", ...words].map(shellWord).join(" ")}`;
  const { stdout, success } = await new Deno.Command("/bin/sh", { args: ["-c", script] }).output();
  assertEquals(success, true);
  assertEquals(new TextDecoder().decode(stdout).split("\0"), ["", "`id`", "a\nb", "~", "-n", "#", ...words, ""]);
});
