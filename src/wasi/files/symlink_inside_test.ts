import { assertEquals } from "@std/assert";
import type { SymlinkPlace } from "../host.ts";
import { openFixture, readText, thrown } from "../host_fixture.ts";
import { symlinkInside } from "./symlink_inside.ts";

Deno.test("symlinkInside: makes a link inside, and trusts nothing of who asks", () => {
  using fixture = openFixture();
  const { root, outside, rw } = fixture;
  const preopens = [{ guest: "/rw", host: root, mode: "rw" }, { guest: "/ro", host: root, mode: "ro" }] as const;
  Deno.mkdirSync(`${root}/a/b`, { recursive: true });
  Deno.writeTextFileSync(`${root}/f`, "inside");
  Deno.symlinkSync(outside, `${root}/out`);
  Deno.symlinkSync("../..", `${root}/a/b/top`);
  const ask = (place: unknown) => symlinkInside(preopens, place as SymlinkPlace);
  ask({ preopen: 0, path: "a/link", target: "../f" });
  assertEquals(readText(rw, "a/link"), "inside");
  const refusals: [unknown, string][] = [
    [{ preopen: 1, path: "x", target: "f" }, "read-only"],
    [{ preopen: 2, path: "x", target: "f" }, "read-only"],
    [{ preopen: "0", path: "x", target: "f" }, "read-only"],
    [{ preopen: "length", path: "x", target: "f" }, "read-only"],
    [{ preopen: 0, path: "x", target: "/etc/passwd" }, "not-permitted"],
    [{ preopen: 0, path: "a/x", target: "../../outside/secret" }, "not-permitted"],
    [{ preopen: 0, path: "a/b/x", target: "top/../outside" }, "not-permitted"],
    [{ preopen: 0, path: "x", target: "out/secret" }, "not-permitted"],
    [{ preopen: 0, path: "out/x", target: "secret" }, "not-directory"],
    [{ preopen: 0, path: "../outside/x", target: "secret" }, "not-permitted"],
    [{ preopen: 0, path: "missing/x", target: "f" }, "not-directory"],
    [{ preopen: 0, path: "a/link", target: "f" }, "exist"],
    [{ preopen: 0, path: "", target: "f" }, "invalid"],
    [{ preopen: 0, path: "x", target: "" }, "invalid"],
    [{ preopen: 0, path: "x\0", target: "f" }, "invalid"],
    [{ preopen: 0, path: ["x"], target: "f" }, "invalid"],
    [{ preopen: 0, path: "x", target: { toString: "f" } }, "invalid"],
  ];
  for (const [place, code] of refusals) assertEquals(thrown(() => ask(place)), code, JSON.stringify(place));
  assertEquals([...Deno.readDirSync(outside)].map((entry) => entry.name), ["secret"]);
});
