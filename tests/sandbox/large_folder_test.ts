import { assertEquals } from "@std/assert";
import { forMode } from "../harness.ts";
import { tryLargeFolder } from "./large_folder.ts";

forMode(
  "binary",
  "large folder: a guest with a small memory lists and moves 95 000 names, lists 130 000, and hears that 200 000 are too many",
  async (bed) => {
    const tryCount = async (count: number) => {
      const { listed, moved, endedBy, code } = await tryLargeFolder(bed, count, "64m");
      return [listed, moved, endedBy, code];
    };
    assertEquals(await tryCount(95_000), [{ ok: 95_000 }, { ok: null }, "guest", 0]);
    assertEquals(await tryCount(130_000), [{ ok: 130_000 }, { err: "not-permitted" }, "guest", 0]);
    const refused = { err: "insufficient-memory" };
    assertEquals(await tryCount(200_000), [refused, refused, "guest", 0]);
  },
);
