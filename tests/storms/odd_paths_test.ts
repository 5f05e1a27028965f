import { assert, assertEquals, assertMatch } from "@std/assert";
import { forMode } from "../harness.ts";
import { warmGuest } from "../warm_cache.ts";
import { quote, runInShell } from "./shell.ts";

const NAMES = [
  "a".repeat(200),
  "with space",
  "new\nline",
  "quote'\"`$x\\",
  "--json",
  "emoji\u{1f980}e\u0301",
  "colon:tab\t*?[x]%41#q",
  ".hidden\u202e",
];

forMode(
  "binary",
  "odd paths: capsule, folders, home and current folder may be called anything that is UTF-8",
  async (bed) => {
    const [hello, probe] = [await warmGuest(bed, "hello_stdio"), await warmGuest(bed, "probe")];
    const manifest = { name: "odd", version: "0.1.0", component: "guest.wasm", grants: { fs: { work: "rw" } } };
    for (const name of NAMES) {
      const folder = bed.folder(name, { "cap/capsule.jsonc": JSON.stringify(manifest), "data/file": "content" });
      Deno.copyFileSync(hello, `${folder}/cap/guest.wasm`);
      for (const own of ["home", "work"]) Deno.mkdirSync(`${folder}/${own}`, { mode: 0o700 });
      const source = 'return open("/data/file", { read: true }).read(7, 0)[0].length';
      const [whole, relative, mounted] = await Promise.all([
        bed.run(["run", "--accept", "--work", `${folder}/work`, `${folder}/cap`], {
          env: { BOLL_HOME: `${folder}/home` },
        }),
        bed.run(["run", "--accept", `./${name}/cap`], { cwd: `${folder}/..` }),
        bed.run(["run", "--mount", `${folder}/data:/data:ro`, probe, "--", source], { cwd: folder }),
      ]);
      for (const { code, stdout, stderr } of [whole, relative]) {
        assertEquals([code, stdout, stderr], [0, "hello from wasm\n", ""], name);
      }
      assertEquals([mounted.code, mounted.stdout], [0, "7\n"], mounted.stderr);
    }
  },
);

forMode(
  "binary",
  "odd paths: what is not UTF-8 is refused as that, and hurts nobody who does not need it",
  async (bed) => {
    const hello = quote(await warmGuest(bed, "hello_stdio"));
    const bad = "bad=$(printf 'x\\377y');";
    const clean = { code: 0, stdout: "hello from wasm\n", stderr: "" };
    for (const start of [`OTHER="$bad"`, `NO_COLOR="$bad"`]) {
      assertEquals(await runInShell(bed, `${bad} ${start} $boll run ${hello}`), clean);
    }
    assertEquals(await runInShell(bed, `${bad} mkdir "$bad" && cd "$bad" && $boll run ${hello}`), clean);
    for (
      const [line, reason] of [
        [`BOLL_HOME="$PWD/$bad" $boll run ${hello}`, /^boll: Read variable BOLL_HOME: its value is not UTF-8/],
        [`OTHER="$bad" $boll run --env OTHER ${hello}`, /^boll: Read variable OTHER: its value is not UTF-8/],
        [`cd "$bad" && BOLL_HOME=here $boll sessions`, /^boll: .*is not valid UTF-8; rename it/],
      ] as const
    ) {
      const { code, stderr } = await runInShell(bed, `${bad} ${line}`);
      assert(code === 1 || code === 2, stderr);
      assertMatch(stderr, reason);
    }
  },
);

forMode("binary", "odd surroundings: any locale, terminal and width, and none, change no result", async (bed) => {
  const hello = await warmGuest(bed, "hello_stdio");
  for (
    const env of [{ LANG: "C" }, { LC_ALL: "POSIX" }, { TERM: "" }, { TERM: "dumb" }, { COLUMNS: "1" }, {
      COLUMNS: "x",
    }]
  ) {
    const results = await Promise.all([["run", hello], ["--help"], ["doctor"]].map((args) => bed.run(args, { env })));
    assertEquals(results.map(({ code, stderr }) => [code, stderr]), [[0, ""], [0, ""], [0, ""]], JSON.stringify(env));
  }
});
