import { assert, assertEquals, assertMatch } from "@std/assert";
import { probeHull } from "./mod.ts";
import { explainLandlock, explainSeccomp } from "./probe.ts";

Deno.test("probeHull: is consistent and changes nothing", () => {
  const first = probeHull();
  assertEquals(first.os, Deno.build.os);
  assertEquals(probeHull(), first);
  assertEquals(first.reasons.length === 0, first.landlockAbi >= 4 && first.seccomp);
  if (first.os === "linux") assertMatch(first.kernel, /^\d+\.\d+/);
});

Deno.test("explainLandlock: says what is missing and how to get it", () => {
  assertEquals(explainLandlock(4, "6.8.0", undefined), undefined);
  assertEquals(explainLandlock(7, "6.18.0", "Docker container"), undefined);
  const cases = [
    [3, "6.2.0", undefined, /net grants need Linux 6\.7/],
    [2, "5.19.0", undefined, /Linux 6\.2 or later/],
    [-95, "6.1.0-13-amd64", undefined, /boot with lsm=landlock/],
    [-38, "5.4.0", undefined, /use Linux 5\.13 or later/],
    [-38, "5.4.0", "Docker container", /use Linux 5\.13 or later/],
    [-38, "6.1.0", undefined, /CONFIG_SECURITY_LANDLOCK=y/],
    [-38, "6.1.0", "Podman container", /Podman container: its seccomp profile .* 444, 445 and 446/],
    [-1, "6.1.0", "Docker container", /Docker container: its seccomp profile/],
    [-1, "6.1.0", undefined, /EPERM.* call 444/],
  ] as const;
  for (const [abi, kernel, container, wanted] of cases) assertMatch(explainLandlock(abi, kernel, container)!, wanted);
});

Deno.test("explainSeccomp: says what is missing and how to get it", () => {
  assertEquals(explainSeccomp(0, undefined), undefined);
  assertMatch(explainSeccomp(-38, undefined)!, /ENOSYS.*CONFIG_SECCOMP_FILTER=y/);
  const contained = explainSeccomp(-1, "Docker container")!;
  assert(contained.includes("Docker container: allow the system call seccomp"));
});
