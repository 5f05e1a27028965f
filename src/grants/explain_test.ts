import { assert, assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { grantsWith } from "./arbitrary_fixture.ts";
import { achievedContainment, checkFloor } from "./containment.ts";
import { explainGrants, type ExplainGrantsInput } from "./explain.ts";

const STRONG = { os: "linux", arch: "x86_64", landlockAbi: 3, seccomp: true, reasons: [] };

Deno.test("achievedContainment: scoped needs Linux, Landlock ABI 3, seccomp and the executable; each lack is named", () => {
  assertEquals(achievedContainment(STRONG, true), { achieved: "scoped", reasons: [] });
  const weak = [
    achievedContainment(STRONG, false),
    achievedContainment({ ...STRONG, landlockAbi: 2 }, true),
    achievedContainment({ ...STRONG, landlockAbi: 0 }, true),
    achievedContainment({ ...STRONG, seccomp: false }, true),
    achievedContainment({ ...STRONG, os: "darwin", landlockAbi: 0, seccomp: false }, true),
  ];
  for (const result of weak) assertEquals([result.achieved, result.reasons.length], ["advisory", 1]);
});

Deno.test("checkFloor: a floor that cannot be met is refused, any other passes", () => {
  const weak = achievedContainment(STRONG, false);
  checkFloor(grantsWith({}), weak);
  checkFloor(grantsWith({ containment: "advisory" }), weak);
  checkFloor(grantsWith({ containment: "scoped" }), achievedContainment(STRONG, true));
  const error = assertThrows(() => checkFloor(grantsWith({ containment: "scoped" }), weak), CapsuleError);
  assertEquals([error.code, error.exitStatus], ["grant.floor_unmet", 5]);
});

const INPUT: ExplainGrantsInput = {
  capsule: { kind: "bare", root: "/c", name: "a", componentPath: "/c/a.wasm" },
  digest: `sha256:${"0".repeat(64)}`,
  resolved: {
    grants: grantsWith({
      fs: { work: "rw", mounts: [{ guest: "/data", mode: "ro", host: "/docs" }] },
      env: ["LANG"],
      containment: "scoped",
    }),
    envValues: { LANG: "hidden-value" },
    warnings: ["A warning"],
    unbound: [],
  },
  probe: STRONG,
  compiled: true,
  own: false,
  accepted: false,
};

Deno.test("explainGrants: JSON-safe, without values of variables; all four walls say what they bind and what not", () => {
  const explanation = explainGrants(INPUT);
  const json = JSON.stringify(explanation);
  assertEquals(JSON.parse(json), explanation);
  assert(!json.includes("hidden-value"));
  assertEquals(explanation.walls.map(({ wall, up }) => [wall, up]), [[1, true], [2, true], [3, true], [4, true]]);
  for (const wall of explanation.walls) assert(wall.binds.length > 0 && wall.does_not_bind.length > 0);
  assert(explanation.walls[3]!.binds.some((line) => line.includes("/docs")));
  assertEquals([explanation.containment.met, explanation.unused, explanation.missing], [true, undefined, []]);
});

Deno.test("explainGrants: under deno run the kernel wall is down, says why, and the floor is not met", () => {
  const { walls, containment } = explainGrants({ ...INPUT, compiled: false });
  assertEquals([walls[3]!.up, walls[3]!.binds, containment.achieved, containment.met], [false, [], "advisory", false]);
  assert(containment.reasons[0]!.includes("deno run") && walls[3]!.does_not_bind.length > 0);
});

Deno.test("explainGrants: imported and not granted, granted and never imported", () => {
  const imports = ["wasi:cli/stdout@0.2.0", "wasi:http/outgoing-handler@0.2.0", "wasi:filesystem/types@0.2.0"];
  const explanation = explainGrants({ ...INPUT, imports });
  assertEquals(explanation.missing.map(({ grant }) => grant), ["net"]);
  assertEquals(explanation.unused, ["clocks", "random", "env", "fs.work", "fs.mounts /data"]);
  const used = ["wasi:clocks/wall-clock", "wasi:random/random", "wasi:cli/environment", "wasi:filesystem/preopens"];
  assertEquals(explainGrants({ ...INPUT, imports: [...imports, ...used] }).unused, []);
});

Deno.test("explainGrants: standing and consent", () => {
  const capsule = { ...INPUT.capsule, kind: "manifest" as const, manifestPath: "/c/capsule.jsonc" };
  const of = (fields: Partial<ExplainGrantsInput>) => {
    const { standing, consent } = explainGrants({ ...INPUT, ...fields });
    return `${standing} ${consent}`;
  };
  assertEquals(
    [of({}), of({ capsule }), of({ capsule, accepted: true }), of({ capsule, own: true })],
    ["bare not_needed", "foreign missing", "foreign stored", "own not_needed"],
  );
});
