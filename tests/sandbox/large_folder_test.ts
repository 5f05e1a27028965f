import { assertEquals } from "@std/assert";
import { forMode } from "../harness.ts";
import { tryLargeFolder } from "./large_folder.ts";

forMode(
  "binary",
  "large folder: a guest with a small memory lists all of 50 000 names, and moves the folder",
  async (bed) => {
    const { listed, moved, endedBy, code } = await tryLargeFolder(bed, 50_000, "64m");
    assertEquals([listed, moved, endedBy, code], [{ ok: 50_000 }, { ok: null }, "guest", 0]);
  },
);
