import { assertEquals } from "@std/assert";
import { DirectoryEntryStream, MAX_FOLDER_BYTES } from "./directory_entry_stream.ts";
import { HOSTED } from "../hosted.ts";
import { openFixture, thrown } from "../host_fixture.ts";

Deno.test("directory-entry-stream: a folder of the largest size is listed, one byte more is insufficient-memory", () => {
  using fixture = openFixture();
  Deno.writeTextFileSync(`${fixture.root}/f`, "x");
  const stream = new DirectoryEntryStream(HOSTED, fixture.root, { size: MAX_FOLDER_BYTES });
  assertEquals(stream.readDirectoryEntry(), { type: "regular-file", name: "f" });
  const open = () => new DirectoryEntryStream(HOSTED, fixture.root, { size: MAX_FOLDER_BYTES + 1 });
  assertEquals(thrown(open), "insufficient-memory");
});
