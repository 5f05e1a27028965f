import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { anyGrants, grantsWith } from "./arbitrary_fixture.ts";
import type { Grants } from "./grants.ts";
import { assertInside } from "./inside_fixture.ts";
import { narrow } from "./narrow.ts";

const meet = (one: Grants, other: Grants) => narrow(one, other).grants;

Deno.test("narrow: the result is inside both", () => {
  fc.assert(
    fc.property(anyGrants, anyGrants, (one, other) => {
      assertInside(meet(one, other), one);
      assertInside(meet(one, other), other);
    }),
    { numRuns: 500 },
  );
});

Deno.test("narrow: idempotent, commutative, associative", () => {
  fc.assert(
    fc.property(anyGrants, anyGrants, anyGrants, (one, two, three) => {
      const once = meet(one, one);
      assertEquals(meet(once, once), once);
      assertInside(one, once);
      assertEquals(meet(one, two), meet(two, one));
      assertEquals(meet(meet(one, two), two), meet(one, two));
      assertEquals(meet(meet(one, two), three), meet(one, meet(two, three)));
    }),
    { numRuns: 500 },
  );
});

Deno.test("narrow: what is dropped is named exactly, and nothing is when all fits", () => {
  fc.assert(fc.property(anyGrants, (grants) => {
    assertEquals(narrow(grants, grants).dropped, []);
  }));
  const asked = grantsWith({
    fs: { work: "rw", mounts: [{ guest: "/a", mode: "rw", host: "/h" }, { guest: "/b", mode: "ro", host: "/h" }] },
    env: ["LANG", "TZ"],
    net: ["https://*.example.com", "https://a.example", "tcp://b:1"],
    spawn: ["worker", "reader"],
  });
  const ceiling = grantsWith({
    fs: { work: "ro", mounts: [{ guest: "/a", mode: "ro", host: "/h" }] },
    env: ["TZ"],
    net: ["https://a.example", "https://api.example.com", "tcp://b:2"],
    spawn: ["worker", "other"],
    random: false,
    limits: { ...asked.limits, memory_mb: 64, cpu_seconds: 1 },
  });
  const { grants, dropped } = narrow(asked, ceiling);
  assertEquals(dropped.map(({ grant }) => grant), [
    "fs.work",
    "fs.mounts:/a",
    "fs.mounts:/b",
    "env:LANG",
    "net:https://*.example.com",
    "net:tcp://b:1",
    "spawn:reader",
    "random",
    "limits.memory_mb",
    "limits.cpu_seconds",
  ]);
  assertEquals([grants.net, grants.spawn], [["https://a.example", "https://api.example.com"], ["worker"]]);
  assertEquals(
    dropped.find(({ grant }) => grant === "net:https://*.example.com")?.text,
    "the network entry https://*.example.com (only https://api.example.com of it)",
  );
  assertEquals([grants.fs, grants.env], [{ work: "ro", mounts: [{ guest: "/a", mode: "ro", host: "/h" }] }, ["TZ"]]);
});

Deno.test("narrow: a name like a prefix is no containment", () => {
  const mount = (host: string) => grantsWith({ fs: { mounts: [{ guest: "/a", mode: "ro", host }] } });
  assertEquals(meet(mount("/h/ab"), mount("/h/a")).fs.mounts, []);
  assertEquals(meet(mount("/h/a/b"), mount("/h/a")).fs.mounts[0]?.host, "/h/a/b");
});
