import { assertEquals, assertThrows } from "@std/assert";
import { join, relative } from "@std/path";
import { CapsuleError } from "../../base/mod.ts";
import { saveFile } from "./save_file.ts";

Deno.test("saveFile: a foreign name leads nowhere but below the folder, and over nothing that is there", () => {
  const root = Deno.makeTempDirSync({ prefix: "boll-save-" });
  try {
    const folder = join(root, "in", "here");
    const bytes = new TextEncoder().encode("text");
    const save = (name: string) => relative(folder, saveFile(folder, { name, bytes }));
    assertEquals(save("report.md"), "report.md");
    assertEquals(save("deep/er/data.csv"), "deep/er/data.csv");
    assertEquals(save("../../etc/passwd"), "etc/passwd");
    assertEquals(save("/absolute"), "absolute");
    assertEquals(save("..\\windows"), "windows");
    assertEquals(save(".hidden"), "hidden");
    assertEquals(save("a\0b:c\n"), "a_b_c_");
    assertEquals(save("…/.."), "_");
    assertEquals(save(""), "file");
    assertEquals(assertThrows(() => save("report.md"), CapsuleError).code, "usage.bad_value");
    assertEquals(Deno.readTextFileSync(join(folder, "report.md")), "text");
    assertEquals([...Deno.readDirSync(root)].map(({ name }) => name), ["in"]);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
