import { assert, assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import type { MountMode } from "./grants.ts";
import { Project } from "./project_fixture.ts";

/** Where a mount of a bare component ends: `ok`, or the code of its refusal. */
async function mount(project: Project, path: string, mode: MountMode): Promise<string> {
  const host = path.startsWith("/") ? path : `${project.dir}/${path}`;
  try {
    await project.resolve(await project.bare(), { mounts: [{ host, guest: "/data", mode }] });
    return "ok";
  } catch (error) {
    if (error instanceof CapsuleError) return error.code;
    throw error;
  }
}

const REFUSED = "grant.protected_path";

Deno.test("checkReach: nothing of boll's own can be written, and its home not even read", async () => {
  using project = new Project({ capsules: ["capsules/*", "apps/**"] });
  for (
    const path of [
      "home/.boll-home/sessions",
      "project/.boll/x",
      "project/capsules/own/data",
      "project/apps/new",
      "project/src",
      "run/boll/t",
      "run/other",
      "elsewhere/.boll/x",
    ]
  ) project.mkdir(path);
  Deno.symlinkSync("home/.boll-home", `${project.dir}/innocent`);
  const table: readonly (readonly [path: string, rw: string, ro: string])[] = [
    ["out", "ok", "ok"],
    ["project/src", "ok", "ok"],
    ["run/other", "ok", "ok"],
    ["home/.boll-home", REFUSED, REFUSED],
    ["home/.boll-home/sessions", REFUSED, REFUSED],
    ["home", REFUSED, REFUSED],
    ["innocent", REFUSED, REFUSED],
    ["innocent/sessions", REFUSED, REFUSED],
    ["run/boll/t", REFUSED, REFUSED],
    ["", REFUSED, REFUSED],
    ["/", REFUSED, REFUSED],
    ["bin", REFUSED, "ok"],
    ["project", REFUSED, "ok"],
    ["project/.boll", REFUSED, "ok"],
    ["project/capsules", REFUSED, "ok"],
    ["project/capsules/own", REFUSED, "ok"],
    ["project/capsules/own/data", REFUSED, "ok"],
    ["project/apps/new", REFUSED, "ok"],
    ["elsewhere", REFUSED, "ok"],
    ["elsewhere/.boll/x", REFUSED, "ok"],
  ];
  for (const [path, rw, ro] of table) {
    assertEquals([await mount(project, path, "rw"), await mount(project, path, "ro")], [rw, ro], path);
  }
});

Deno.test("checkReach: a manifest, a workspace or a lock below a writable folder is found", async () => {
  using project = new Project();
  for (const name of ["capsule.jsonc", "boll.jsonc", "boll.lock"]) {
    const folder = project.mkdir("out/a/b");
    assertEquals(await mount(project, "out", "rw"), "ok");
    Deno.writeTextFileSync(`${folder}/${name}`, "{}");
    assertEquals([await mount(project, "out", "rw"), await mount(project, "out", "ro")], [REFUSED, "ok"], name);
    assertEquals(await mount(project, "out/a/b", "rw"), REFUSED);
    Deno.removeSync(`${folder}/${name}`);
  }
});

Deno.test("checkReach: --work obeys the same rules, and so does an own manifest's host", async () => {
  using project = new Project();
  const own = await project.capsule("own", { fs: { mounts: [{ host: "./data", guest: "/data", mode: "rw" }] } });
  project.mkdir("project/capsules/own/data");
  const error = await assertRejects(() => project.resolve(own), CapsuleError);
  assertEquals([error.code, error.exitStatus], [REFUSED, 5]);
  assert(error.message.includes("your own capsules"), error.message);
  const bare = await project.bare();
  for (const path of ["home", "project", "project/capsules", "bin"]) {
    const refused = await assertRejects(() => project.resolve(bare, { work: `${project.dir}/${path}` }), CapsuleError);
    assertEquals(refused.code, REFUSED, path);
  }
  assertEquals((await project.resolve(bare, { work: `${project.dir}/out` })).work, `${project.dir}/out`);
});

Deno.test("checkReach: globs of a boll.jsonc that nobody trusts protect nothing, its own file is protected", async () => {
  using project = new Project({ capsules: ["**"] });
  project.mkdir("project/src");
  const bare = await project.bare();
  const mounts = (path: string) => [{ host: `${project.dir}/${path}`, guest: "/data", mode: "rw" as const }];
  await assertRejects(() => project.resolve(bare, { mounts: mounts("project/src") }), CapsuleError);
  await project.resolve(bare, { mounts: mounts("project/src") }, { trusted: [] });
  await assertRejects(() => project.resolve(bare, { mounts: mounts("project") }, { trusted: [] }), CapsuleError);
});

Deno.test("checkReach: a home that is a link is guarded where it is and where its link stands", async () => {
  using project = new Project();
  Deno.mkdirSync(`${project.dir}/data/boll`, { recursive: true });
  Deno.symlinkSync(`${project.dir}/data/boll`, project.home);
  assertEquals(await mount(project, "data", "rw"), REFUSED);
  assertEquals(await mount(project, "home", "rw"), REFUSED);
  assertEquals(await mount(project, "out", "rw"), "ok");
});
