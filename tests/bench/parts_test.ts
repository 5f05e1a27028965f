import { assertEquals, assertThrows } from "@std/assert";
import { PARTS, partsOf, programsFor } from "./parts.ts";

Deno.test("partsOf takes all parts, or those that are named, in their order, and refuses an unknown one", () => {
  assertEquals([...partsOf([])], Object.keys(PARTS));
  assertEquals([...partsOf(["--quick", "--only=home,frames"])], ["frames", "home"]);
  for (const words of [["--only"], ["--only="], ["--only=frames,fraems"]]) {
    assertThrows(() => partsOf(words), Error, "wanted some of start-up,operations,");
  }
});

Deno.test("programsFor names each program once", () => {
  assertEquals([...programsFor(partsOf(["--only=sessions,crowds"]))], ["tree", "empty", "idle"]);
  assertEquals([...programsFor(partsOf(["--only=home"]))], []);
});
