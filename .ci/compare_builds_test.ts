import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { compareBuilds } from "./compare_builds.ts";

function makeBuild(executable: string, hashes: Record<string, string>): string {
  const folder = Deno.makeTempDirSync();
  const components = Object.entries(hashes).map(([name, content]) => ({ name, hashes: [{ content }] }));
  Deno.writeTextFileSync(join(folder, "boll"), executable);
  Deno.writeTextFileSync(join(folder, "boll.cdx.json"), JSON.stringify({ components }));
  Deno.writeTextFileSync(join(folder, "THIRD_PARTY_NOTICES.txt"), "notices");
  return folder;
}

Deno.test("compareBuilds finds nothing in equal builds, and says which part and which byte is another", () => {
  const first = makeBuild("base cli cell", { "cell.js": "1", "cli.js": "2", "old.js": "3" });
  const builds = [
    first,
    makeBuild("base cli cell", { "cell.js": "1", "cli.js": "2", "old.js": "3" }),
    makeBuild("base clx cell and", { "cell.js": "1", "cli.js": "4", "new.js": "3" }),
  ];
  try {
    assertEquals(compareBuilds(builds[0]!, builds[1]!), []);
    assertEquals(compareBuilds(builds[0]!, builds[2]!), [
      "boll: differs from byte 7 of 13 and 17 on",
      "boll.cdx.json: differs from byte 100 of 152 and 152 on",
      "  cli.js: 2 and 4",
      "  new.js: embedded in the second build alone",
      "  old.js: embedded in the first build alone",
    ]);
  } finally {
    for (const build of builds) Deno.removeSync(build, { recursive: true });
  }
});
