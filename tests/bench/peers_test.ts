import { assertEquals } from "@std/assert";
import { explainFailure } from "./peers.ts";

Deno.test("explainFailure keeps npm's code and drops every address", () => {
  const text = "npm error code ENOTFOUND\nnpm error network request to https://packages.example/x failed\n";
  assertEquals(explainFailure(text), "npm could not install them (ENOTFOUND)");
  assertEquals(explainFailure("killed at https://packages.example"), "npm could not install them");
});
