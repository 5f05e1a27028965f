import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import { homeRoot, openHome } from "../mod.ts";

const variables = (values: Record<string, string>) => (name: string) => values[name];

function withFolder(run: (folder: string) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    run(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function refusal(run: () => unknown): CapsuleError {
  const error = assertThrows(run, CapsuleError);
  assertEquals(error.code, "home.unwritable");
  return error;
}

const modeOf = (path: string) => Deno.lstatSync(path).mode! & 0o777;

Deno.test("homeRoot: BOLL_HOME, then XDG_DATA_HOME, then HOME; empty and relative XDG count as unset", () => {
  const all = { BOLL_HOME: "/b", XDG_DATA_HOME: "/x", HOME: "/h" };
  assertEquals(homeRoot(variables(all)), "/b");
  assertEquals(homeRoot(variables({ ...all, BOLL_HOME: "" })), "/x/boll");
  assertEquals(homeRoot(variables({ XDG_DATA_HOME: "relative", HOME: "/h" })), "/h/.boll");
  assertEquals(homeRoot(variables({ HOME: "/h" })), "/h/.boll");
  assertEquals(homeRoot(variables({ BOLL_HOME: "here" })), `${Deno.cwd()}/here`);
  assertStringIncludes(refusal(() => homeRoot(variables({}))).message, "set BOLL_HOME");
});

Deno.test("openHome: makes home, cache and sessions 0700, and opens them again", () =>
  withFolder((folder) => {
    const open = () => openHome(variables({ BOLL_HOME: `${folder}/deep/home` }));
    const home = open();
    assertEquals(home, open());
    for (const path of [home.root, home.cache, home.sessions]) assertEquals(modeOf(path), 0o700);
    assertEquals(home.trust, `${folder}/deep/home/trust.json`);
  }));

Deno.test("openHome: a home readable by others is closed to them, a writable one is refused", () =>
  withFolder((folder) => {
    const open = () => openHome(variables({ BOLL_HOME: `${folder}/home` }));
    Deno.mkdirSync(`${folder}/home`);
    Deno.chmodSync(`${folder}/home`, 0o755);
    assertEquals(modeOf(open().root), 0o700);
    for (const mode of [0o777, 0o775, 0o702]) {
      Deno.chmodSync(`${folder}/home`, mode);
      assertStringIncludes(refusal(open).message, `chmod 700 ${folder}/home`);
    }
  }));

Deno.test("openHome: a link is refused, at the home and below it; so is a file", () =>
  withFolder((folder) => {
    Deno.mkdirSync(`${folder}/real`, { mode: 0o700 });
    Deno.symlinkSync(`${folder}/real`, `${folder}/link`);
    Deno.writeTextFileSync(`${folder}/file`, "");
    const open = (name: string) => openHome(variables({ BOLL_HOME: `${folder}/${name}` }));
    assertStringIncludes(refusal(() => open("link")).message, "a link");
    assertStringIncludes(refusal(() => open("file")).message, "not a folder");
    assertStringIncludes(refusal(() => open("file/below")).message, "set BOLL_HOME");
    Deno.symlinkSync(folder, `${folder}/real/sessions`);
    assertStringIncludes(refusal(() => open("real")).message, "sessions is a link");
    Deno.removeSync(`${folder}/real/sessions`);
    assertEquals(open("real").root, `${folder}/real`);
  }));

Deno.test({
  name: "openHome: a home of someone else is refused",
  ignore: Deno.uid() !== 0,
  fn: () =>
    withFolder((folder) => {
      const open = () => openHome(variables({ BOLL_HOME: `${folder}/home` }));
      open();
      Deno.chownSync(`${folder}/home`, 65534, 65534);
      assertStringIncludes(refusal(open).message, "owned by someone else");
    }),
});

Deno.test({
  name: "openHome: a place that cannot be written is refused with a hint",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    const error = refusal(() => openHome(variables({ BOLL_HOME: "/proc/boll-home" })));
    assertStringIncludes(error.message, "/proc/boll-home cannot be written");
    assertStringIncludes(error.message, "set BOLL_HOME to a folder of your own");
  },
});
