import { assert, assertEquals } from "@std/assert";
import { isId } from "../base/mod.ts";
import { DelegationIds } from "./delegation_ids.ts";

Deno.test("DelegationIds: unique, prefixed, lower-case, in the order of creation; only minted ones are known", () => {
  const ids = new DelegationIds();
  const minted = Array.from({ length: 500 }, () => ids.mint());
  assertEquals(new Set(minted).size, 500);
  assertEquals(minted.toSorted(), minted);
  for (const id of minted) {
    assert(isId(id, "dlg") && /^dlg_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/.test(id), id);
    assert(ids.has(id));
  }
  const foreign = new DelegationIds().mint();
  for (const id of [foreign, minted[0]!.toUpperCase(), "../dlg_1", "dlg_1", "", `${minted[0]}/`]) {
    assert(!ids.has(id), id);
  }
});
