import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { HullProbe } from "../../hull/mod.ts";
import { captureContext } from "../context_fixture.ts";
import { doctorReport } from "./doctor.ts";
import { main } from "../main.ts";
import type { VersionReport } from "./version.ts";

const VERSIONS: VersionReport = { boll: "1", base: "official", deno: "2", v8: "3", transpiler: "4", target: "5" };
const FULL: HullProbe = { os: "linux", arch: "x86_64", kernel: "6.8.0", landlockAbi: 4, seccomp: true, reasons: [] };
const BARE: HullProbe = { ...FULL, landlockAbi: 0, seccomp: false, reasons: ["no Landlock: boot with lsm=landlock"] };
const MAC: HullProbe = { ...BARE, os: "darwin", kernel: "", reasons: ["darwin has no kernel wall"] };

async function withHome<Result>(run: (home: string) => Result | Promise<Result>): Promise<Result> {
  const folder = Deno.makeTempDirSync();
  try {
    return await run(`${folder}/home`);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

const report = (home: string, probe: HullProbe, compiled: boolean) =>
  doctorReport(probe, compiled, VERSIONS, captureContext({ variables: { BOLL_HOME: home } }).context);

const wallsUp = (home: string, probe: HullProbe, compiled: boolean) =>
  report(home, probe, compiled).walls.map(({ up }) => up);

Deno.test("doctorReport: which walls are up, with the executable and without, with the kernel's help and without", () =>
  withHome((home) => {
    assertEquals(wallsUp(home, FULL, true), ["yes", "yes", "yes", "yes"]);
    assertEquals(report(home, FULL, true).containment, { strongest: "scoped", reasons: [] });
    assertEquals(wallsUp(home, FULL, false), ["yes", "yes", "partly", "no"]);
    assertEquals(wallsUp(home, BARE, true), ["yes", "yes", "yes", "no"]);
    assertEquals(wallsUp(home, MAC, true), ["yes", "yes", "partly", "no"]);
    for (const [probe, compiled] of [[FULL, false], [BARE, true], [MAC, true]] as const) {
      const { containment, walls } = report(home, probe, compiled);
      assertEquals(containment.strongest, "advisory");
      assert(walls[3]!.detail.length > 0, "a missing wall says why");
    }
    assertStringIncludes(report(home, BARE, true).walls[3]!.detail.join(), "boot with lsm=landlock");
  }));

Deno.test("doctorReport: folders that can be used are named, another says why and makes it not ok", () =>
  withHome((home) => {
    const good = report(home, FULL, true);
    assertEquals([good.ok, good.places[0]], [true, { name: "home", path: home, ok: true }]);
    Deno.chmodSync(home, 0o777);
    const bad = report(home, FULL, true);
    assertEquals([bad.ok, bad.places[0]!.ok, bad.places[0]!.path], [false, false, home]);
    assertStringIncludes(bad.places[0]!.detail!, "chmod 700");
  }));

Deno.test("boll doctor: exit 0 with whatever walls there are, 1 without a usable home; text and JSON agree", () =>
  withHome(async (home) => {
    const boll = async (...argv: string[]) => {
      const captured = captureContext({ variables: { BOLL_HOME: home } });
      const exitCode = await main(["doctor", ...argv], captured.context);
      return { exitCode, stdout: captured.stdout(), stderr: captured.stderr() };
    };
    const text = await boll();
    const json = await boll("--json");
    assertEquals([text.exitCode, json.exitCode, text.stderr, json.stderr], [0, 0, "", ""]);
    const { containment, walls } = JSON.parse(json.stdout);
    assertStringIncludes(text.stdout, `Strongest containment here: ${containment.strongest}\n`);
    for (const { wall, name, up } of walls) {
      assertStringIncludes(text.stdout, `  ${wall} ${name.padEnd(12)} ${up}`);
    }
    for (const line of text.stdout.split("\n")) assertEquals(line, line.trimEnd());
    Deno.removeSync(home, { recursive: true });
    Deno.writeTextFileSync(home, "a file");
    assertEquals((await boll()).exitCode, 1);
  }));
