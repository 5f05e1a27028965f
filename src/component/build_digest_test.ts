import { assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { buildComponent } from "./build.ts";
import { buildSample, commandText, encodeText, inFolder } from "./component_fixture.ts";

Deno.test("buildComponent: bytes of the digest that was asked for are built, others refused before a byte is written", async () => {
  await inFolder(async (folder) => {
    const bytes = await encodeText(commandText());
    const { digest } = await buildSample(bytes);
    const others = () => buildComponent(bytes.with(-1, 1), folder, { memoryMb: 1, digest });
    assertEquals((await assertRejects(others, CapsuleError)).code, "component.build_failed");
    assertEquals([...Deno.readDirSync(folder)], []);
    assertEquals((await buildComponent(bytes, folder, { memoryMb: 1, digest })).digest, digest);
  });
});
