import { assertEquals } from "@std/assert";
import { readControlPointer, removeControlPointer, writeControlPointer } from "./control_pointer.ts";

Deno.test("writeControlPointer, removeControlPointer: not through a link in place of the records, nor of the session; else they do", () => {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "boll-test-" }));
  try {
    const [session, other] = [`${root}/ses`, `${root}/other`];
    const control = `${session}/records/control`;
    const others = `${other}/records/control`;
    Deno.mkdirSync(`${other}/records`, { recursive: true });
    for (const [link, target] of [[session, other], [`${session}/records`, `${other}/records`]] as const) {
      Deno.writeTextFileSync(others, "/kept\n");
      if (link !== session) Deno.mkdirSync(session);
      Deno.symlinkSync(target, link);
      writeControlPointer({ control }, "/own");
      assertEquals(Deno.readTextFileSync(others), "/kept\n", link);
      removeControlPointer({ control });
      assertEquals(Deno.readTextFileSync(others), "/kept\n", link);
      Deno.removeSync(link);
    }
    Deno.mkdirSync(`${session}/records`);
    writeControlPointer({ control }, "/own");
    assertEquals(readControlPointer({ control }), "/own");
    removeControlPointer({ control });
    assertEquals(readControlPointer({ control }), undefined);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
