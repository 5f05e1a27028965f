import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type Bed, fixture, forEachMode } from "../harness.ts";
import { childrenOf, peakMemoryBytes } from "../processes.ts";

/** A read-only mount with a secret beside it, and a writable one. */
function places(bed: Bed): { data: string; work: string; secret: string; flags: string[] } {
  const outside = bed.folder("outside", { "secret.txt": "secret", "data/a.txt": "alpha", "data/deep/b.txt": "beta" });
  const [data, work] = [`${outside}/data`, bed.folder("work")];
  return { data, work, secret: `${outside}/secret.txt`, flags: ["--mount", `${data}:/data:ro`, "--work", work] };
}

forEachMode("files: a guest reads its mounts and writes its work folder", async (bed) => {
  const { work, flags } = places(bed);
  const source = `
    writeFile("/workdir/out.txt", readFile("/data/a.txt") + readFile("/data/deep/b.txt"));
    appendFile("/workdir/out.txt", "!");
    makeFolder("/workdir/new");
    rename("/workdir/out.txt", "/workdir/new/out.txt");
    return [preopens().sort(), list("/data"), list("/workdir/new"), stat("/workdir/new/out.txt").size, cwd]`;
  const { value, stderr } = await bed.probe(source, { flags });
  assertEquals(value, [["/data", "/workdir"], ["a.txt", "deep"], ["out.txt"], 10, "/workdir"], stderr);
  assertEquals(Deno.readTextFileSync(`${work}/new/out.txt`), "alphabeta!");
});

forEachMode("files: `..`, absolute paths and planted links do not leave a mount; inside they work", async (bed) => {
  const { data, secret, flags } = places(bed);
  Deno.symlinkSync(secret, `${data}/absolute`);
  Deno.symlinkSync("../secret.txt", `${data}/relative`);
  Deno.symlinkSync("..", `${data}/up`);
  Deno.symlinkSync("deep/b.txt", `${data}/inside`);
  const paths = [
    "/data/../secret.txt",
    "/data/deep/../../secret.txt",
    "/data/absolute",
    "/data/relative",
    "/data/up/secret.txt",
    `/data/${secret}`,
    "/data//etc/shadow",
    "/data/up/up/up/up/up/etc/shadow",
  ];
  const source = `args.map((path) => attempt(() => readFile(path)).err ?? "READ")`;
  const { value } = await bed.probe(source, { flags, args: paths });
  assertEquals(value, paths.map(() => "not-permitted"));
  const inside = await bed.probe('["/data/inside", "/data/deep/../a.txt"].map(readFile)', { flags });
  assertEquals(inside.value, ["beta", "alpha"], inside.stderr);
});

forEachMode(
  "files: a read-only mount stays so through every flag and call; a writable one does not refuse them",
  async (bed) => {
    const { data, flags } = places(bed);
    const source = `
    const at = args[0];
    const tries = {
      write: () => open(at + "/a.txt", { write: true }),
      create: () => open(at + "/new", { create: true, write: true }),
      createOnly: () => open(at + "/new2", { create: true }),
      truncate: () => open(at + "/a.txt", { read: true, truncate: true }),
      exclusive: () => open(at + "/new3", { create: true, exclusive: true, write: true }),
      times: () => setTimes(at + "/a.txt", { tag: "now" }, { tag: "now" }),
      folder: () => makeFolder(at + "/folder"),
      rename: () => rename(at + "/a.txt", at + "/b.txt"),
      link: () => link(at + "/b.txt", at + "/hard"),
      symlink: () => symlink("b.txt", at + "/soft"),
      unlink: () => removeFile(at + "/b.txt"),
      remove: () => removeFolder(at + "/folder"),
    };
    return Object.entries(tries).map(([name, act]) => [name, attempt(act).err ?? "ok"]);`;
    const names = [
      "write",
      "create",
      "createOnly",
      "truncate",
      "exclusive",
      "times",
      "folder",
      "rename",
      "link",
      "symlink",
      "unlink",
      "remove",
    ];
    const refused = await bed.probe(source, { flags, args: ["/data"] });
    const codes = (refused.value as [string, string][]).map(([name, code]) => [name, code === "ok" ? "ok" : "refused"]);
    assertEquals(codes, names.map((name) => [name, "refused"]), refused.stderr);
    assertEquals(Deno.readTextFileSync(`${data}/a.txt`), "alpha");
    Deno.writeTextFileSync(`${bed.folder("work")}/a.txt`, "alpha");
    const allowed = await bed.probe(source, { flags, args: ["/workdir"] });
    assertEquals(allowed.value, names.map((name) => [name, "ok"]), allowed.stderr);
  },
);

forEachMode("files: a guest's links stay inside, hard links and renames do not cross a mount's border", async (bed) => {
  const { work, secret, flags } = places(bed);
  const source = `
    writeFile("/workdir/own", "own");
    const tries = {
      out: () => symlink("../outside/secret.txt", "/workdir/out"),
      absolute: () => symlink(${JSON.stringify(secret)}, "/workdir/absolute"),
      inside: () => symlink("own", "/workdir/inside"),
      hardOut: () => link("/data/a.txt", "/workdir/hard"),
      hardIn: () => link("/workdir/own", "/workdir/hard2"),
      renameOut: () => rename("/workdir/own", "/data/own"),
      renameUp: () => rename("/workdir/own", "/workdir/../own"),
      renameIn: () => rename("/workdir/hard2", "/workdir/hard3"),
    };
    return Object.entries(tries).map(([name, act]) => [name, attempt(act).err ? "refused" : "ok"]);`;
  const { value, stderr } = await bed.probe(source, { flags });
  assertEquals(Object.fromEntries(value as [string, string][]), {
    out: "refused",
    absolute: "refused",
    inside: "ok",
    hardOut: "refused",
    hardIn: "ok",
    renameOut: "refused",
    renameUp: "refused",
    renameIn: "ok",
  }, stderr);
  assertEquals([...Deno.readDirSync(work)].map((entry) => entry.name).sort(), ["hard3", "inside", "own"]);
});

forEachMode(
  "files: boll's own files and /proc cannot be mounted writable, devices in a mount cannot be opened",
  async (bed) => {
    const own = await bed.probe("1", { flags: ["--mount", `${bed.home}:/data:rw`] });
    assertEquals([own.code, own.stdout], [5, ""], own.stderr);
    const data = bed.folder("special");
    const made = await new Deno.Command("mkfifo", { args: [`${data}/fifo`] }).output();
    assertEquals(made.success, true);
    const { value, stderr } = await bed.probe('attempt(() => open("/data/fifo")).err ? "refused" : "opened"', {
      flags: ["--mount", `${data}:/data:ro`],
    });
    assertEquals(value, "refused", stderr);
  },
);

forEachMode(
  "files: a denied read is recorded with what would allow it, and the rest of the run goes on",
  async (bed) => {
    const { flags } = places(bed);
    const result = await bed.probe(
      '[attempt(() => writeFile("/data/x", "y")).err ? "refused" : "ok", readFile("/data/a.txt")]',
      {
        flags,
      },
    );
    assertEquals([result.code, result.value], [0, ["refused", "alpha"]], result.stderr);
    const denied = bed.trace().find((event) => event.event === "denied");
    assertStringIncludes(JSON.stringify(denied), "/data");
    assertStringIncludes(result.stderr, "boll: denied");
  },
);

forEachMode("files: 64 MiB from file to file through the host", async (bed) => {
  const { data, work, flags } = places(bed);
  const bytes = new Uint8Array(64 * 2 ** 20);
  for (let at = 0; at < bytes.length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  Deno.writeFileSync(`${data}/source.bin`, bytes);
  const result = await bed.run(["run", await fixture("file_copy"), ...flags]);
  assertEquals([result.code, result.stderr], [0, ""]);
  const copied = Deno.readFileSync(`${work}/target.bin`);
  assertEquals(copied.length, bytes.length);
  assertEquals(copied.every((byte, at) => byte === bytes[at]), true);
});

forEachMode("files: 1 GiB from file to file in flat memory", async (bed) => {
  const { data, work, flags } = places(bed);
  const length = 2 ** 30;
  Deno.writeFileSync(`${data}/source.bin`, new Uint8Array(0));
  Deno.truncateSync(`${data}/source.bin`, length);
  // Built before, so that the only cell is the guest's.
  assertEquals((await bed.guest("file_copy", ["--dry-run"])).code, 0);
  const running = bed.start(["run", await fixture("file_copy"), ...flags]);
  let ended = false;
  const result = running.result().finally(() => ended = true);
  let [early, late] = [0, 0];
  while (!ended) {
    const copied = sizeIfThere(`${work}/target.bin`);
    const peak = peakIfThere(running.child.pid);
    if (copied > 0 && copied < length / 4) early = peak || early;
    if (copied > length / 2) late = Math.max(late, peak);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const { code, stderr } = await result;
  assertEquals([code, stderr, sizeIfThere(`${work}/target.bin`)], [0, "", length]);
  assert(early > 0 && late > 0, "the copy was over before it was looked at");
  assert(late - early < 64 * 2 ** 20, `the cell grew by ${late - early} bytes`);
});

function sizeIfThere(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch {
    return 0;
  }
}

/** The most memory that a run's cell had, 0 when there is none. */
function peakIfThere(pid: number): number {
  try {
    return Math.max(0, ...childrenOf(pid).map(peakMemoryBytes));
  } catch {
    return 0;
  }
}
