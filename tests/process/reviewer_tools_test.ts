import { assertEquals, assertMatch } from "@std/assert";
import { buildCapsules } from "../../capsules/build.ts";
import { forExecutable, REPOSITORY } from "../harness.ts";
import { CalledTools } from "./called_tools.ts";

await buildCapsules(`${REPOSITORY}/capsules`, `${REPOSITORY}/.build/capsules`);

forExecutable("reviewer: its tools list and read what they were given, in parts, and say why not", async (bed) => {
  const long = "0123456789".repeat(10_000);
  const src = bed.folder("src", { "a.txt": "grüße", "deep/b.txt": "b", "long.txt": long });
  bed.folder("secret", { "key.txt": "s3cret" });
  Deno.symlinkSync("../secret", `${src}/away`);
  const tools = [
    { name: "list-files", fixture: `${REPOSITORY}/capsules/reviewer/list_files.wasm` },
    { name: "read-file", fixture: `${REPOSITORY}/capsules/reviewer/read_file.wasm` },
  ];
  const grants = { fs: { mounts: [{ guest: "/src", mode: "ro" as const, host: src }] } };
  await using bench = await CalledTools.open(bed, tools, { grants });
  assertEquals(bench.cells.tools.map(({ mutates }) => mutates), [false, false]);
  const call = async (tool: string, input: unknown) => {
    const { content, isError } = await bench.call(tool, JSON.stringify(input));
    return isError ? { error: content } : { answer: content };
  };
  const all = [{ path: "/src/a.txt", bytes: 7 }, { path: "/src/deep/b.txt", bytes: 1 }, {
    path: "/src/long.txt",
    bytes: 100_000,
  }];
  assertEquals(JSON.parse((await call("list-files", {})).answer!), all);
  assertEquals(JSON.parse((await call("list-files", { path: "/src/deep" })).answer!), [all[1]]);
  assertEquals(await call("read-file", { path: "/src/a.txt" }), { answer: "grüße" });
  const first = (await call("read-file", { path: "/src/long.txt" })).answer!;
  assertMatch(first, /\n\[34464 bytes more: read on at offset 65536\]$/);
  const rest = (await call("read-file", { path: "/src/long.txt", offset: 65_536 })).answer!;
  assertEquals(first.slice(0, 65_536) + rest, long);
  Deno.writeTextFileSync(`${src}/wide.txt`, "漢".repeat(22_000));
  const wide = (await call("read-file", { path: "/src/wide.txt" })).answer!;
  assertMatch(wide, /^漢+\n\[465 bytes more: read on at offset 65535\]$/);
  const refused: readonly (readonly [tool: string, input: unknown, why: RegExp])[] = [
    ["read-file", { path: "/src/none.txt" }, /none\.txt: no-entry/],
    ["read-file", { path: "/etc/passwd" }, /no-entry/],
    ["read-file", { path: "/src/../secret/key.txt" }, /not-permitted/],
    ["read-file", { path: "/src/away/key.txt" }, /not-permitted/],
    ["read-file", {}, /path is missing/],
    ["read-file", { path: "/src/a.txt", offset: -1 }, /offset/],
    ["read-file", [], /not a JSON object/],
    ["list-files", { path: "/src/a.txt" }, /not-directory/],
  ];
  for (const [tool, input, why] of refused) {
    assertMatch((await call(tool, input)).error ?? "no error", why, JSON.stringify(input));
  }
  assertMatch((await bench.call("read-file", "{")).content, /not JSON/);
});
