import { assertEquals } from "@std/assert";
import { workerPermissions } from "./mod.ts";

Deno.test("workerPermissions: what a list names is allowed, what is not named and every other permission is false", () => {
  const nothing = { read: false, write: false, net: false, env: false, run: false, ffi: false, sys: false };
  assertEquals(workerPermissions({}), { ...nothing, import: false });
  assertEquals(workerPermissions({ net: ["127.0.0.1:1"], read: false }), {
    ...nothing,
    net: ["127.0.0.1:1"],
    import: false,
  });
  const lists = { read: ["/a"], write: ["/b", "/c"] };
  assertEquals(workerPermissions({ ...lists, net: [] }), { ...nothing, ...lists, import: false });
});
