import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { join } from "@std/path";
import type { Attempt, Script, Tried } from "../../tests/fixtures/hull/try_hull.ts";
import { type HullRules } from "../base/mod.ts";
import { probeHull, ProcessHull } from "./mod.ts";

const PROGRAM = join(import.meta.dirname!, "../../tests/fixtures/hull/try_hull.ts");
const CONFIG = join(import.meta.dirname!, "../../deno.json");
const NOTHING: HullRules = {
  read: [],
  write: [],
  execute: [],
  symlinks: false,
  unixSockets: false,
  tty: false,
  tcpConnect: [],
  tcpBind: [],
  udp: false,
  seccomp: false,
};

const probe = probeHull();
const hasLandlock = probe.landlockAbi >= 3;
const without = (part: string) => ({
  ignore: !(part === "seccomp" ? probe.seccomp : hasLandlock),
  reason: `${part} is not here: ${probe.reasons.join("; ")}`,
});
if (probe.reasons.length > 0) console.log(`Tests of the kernel wall left out: ${probe.reasons.join("; ")}`);

interface Places extends Disposable {
  readonly ro: string;
  readonly rw: string;
  readonly other: string;
}

/** `ro/file`, `rw/file`, `rw/sub/`, `other/file` below a fresh folder, all of them real paths. */
function makePlaces(): Places {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "hull" }));
  const [ro, rw, other] = ["ro", "rw", "other"].map((name) => `${root}/${name}`) as [string, string, string];
  for (const place of [ro, rw, other]) {
    Deno.mkdirSync(place);
    Deno.writeTextFileSync(`${place}/file`, "text");
  }
  Deno.mkdirSync(`${rw}/sub`);
  return { ro, rw, other, [Symbol.dispose]: () => Deno.removeSync(root, { recursive: true }) };
}

async function run(script: Script, cwd?: string): Promise<Tried> {
  const args = [
    "run",
    "-q",
    "-A",
    "--unstable-net",
    "--no-check",
    "--cached-only",
    "--config",
    CONFIG,
    PROGRAM,
    JSON.stringify(script),
  ];
  const options = cwd === undefined ? {} : { cwd };
  const child = await new Deno.Command(Deno.execPath(), { args, stdin: "null", ...options }).output();
  const [stdout, stderr] = [child.stdout, child.stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert(child.success, `code ${child.code}, signal ${child.signal}: ${stderr}`);
  return JSON.parse(stdout!);
}

/** Tries `cases` before and after `rules`: each is `[attempt, result before, result after]`. */
async function expect(rules: HullRules, cases: readonly [Attempt, string, string][]): Promise<void> {
  const { before, after, failed } = await run({ rules, attempts: cases.map(([attempt]) => attempt) });
  assertEquals(failed, undefined);
  const found = cases.map(([attempt], i) => [attempt.join(" "), before[i], after[i]]);
  assertEquals(found, cases.map(([attempt, ...results]) => [attempt.join(" "), ...results]));
}

Deno.test("confine: reads and writes inside the places, nothing outside", without("Landlock"), async () => {
  using places = makePlaces();
  const { ro, rw, other } = places;
  await expect({ ...NOTHING, read: [ro], write: [rw] }, [
    [["read", `${ro}/file`], "ok", "ok"],
    [["list", ro], "ok", "ok"],
    [["read", `${other}/file`], "ok", "EACCES"],
    [["list", other], "ok", "EACCES"],
    [["read", "/etc/passwd"], "ok", "EACCES"],
    [["write", `${rw}/file`], "ok", "ok"],
    [["truncate", `${rw}/file`], "ok", "ok"],
    [["write", `${ro}/file`], "ok", "EACCES"],
    [["truncate", `${ro}/file`], "ok", "EACCES"],
    [["write", `${other}/file`], "ok", "EACCES"],
    [["truncate", `${other}/file`], "ok", "EACCES"],
  ]);
});

Deno.test("confine: a place that is a file, and links that lead out of a place", without("Landlock"), async () => {
  using places = makePlaces();
  const { ro, rw, other } = places;
  Deno.symlinkSync(`${other}/file`, `${rw}/out`);
  await expect({ ...NOTHING, read: [`${ro}/file`], write: [rw] }, [
    [["read", `${ro}/file`], "ok", "ok"],
    [["write", `${ro}/file`], "ok", "EACCES"],
    [["list", ro], "ok", "EACCES"],
    [["read", `${rw}/out`], "ok", "EACCES"],
    [["write", `${rw}/out`], "ok", "EACCES"],
  ]);
});

Deno.test("confine: renames and links inside the writable places, never out of or into others", {
  ...without("Landlock"),
}, async () => {
  using places = makePlaces();
  const { ro, rw, other } = places;
  for (const name of ["a", "b"]) Deno.writeTextFileSync(`${rw}/${name}`, "");
  const attempts: Attempt[] = [
    ["rename", `${rw}/a`, `${rw}/sub/a`],
    ["link", `${rw}/b`, `${rw}/sub/b`],
    ["mkdir", `${rw}/made`],
    ["remove", `${rw}/made`],
    ["rename", `${ro}/file`, `${rw}/stolen`],
    ["link", `${ro}/file`, `${rw}/linked`],
    ["link", `${other}/file`, `${rw}/linked`],
    ["rename", `${rw}/b`, `${ro}/b`],
    ["remove", `${ro}/file`],
    ["mkdir", `${other}/made`],
  ];
  const { after, failed } = await runAfter({ ...NOTHING, read: [ro], write: [rw] }, attempts);
  assertEquals(failed, undefined);
  const inside = attempts.map(([verb]) => verb).slice(0, 4);
  assertEquals(after.slice(0, 4), inside.map(() => "ok"));
  for (const result of after.slice(4)) assert(["EACCES", "EXDEV"].includes(result), after.join(" "));
  assertEquals([...Deno.readDirSync(ro)].map(({ name }) => name), ["file"]);
});

/** Confines first and tries once, for attempts that cannot be made twice. */
async function runAfter(rules: HullRules, attempts: readonly Attempt[]): Promise<Tried> {
  const { before, after, failed } = await run({ rules, attempts, onlyAfter: true });
  assertEquals(before, []);
  return { before, after, ...(failed === undefined ? {} : { failed }) };
}

Deno.test("confine: symbolic links and unix sockets are made only with their flag", without("Landlock"), async () => {
  using places = makePlaces();
  const { rw } = places;
  const attempts: Attempt[] = [["symlink", "file", `${rw}/link`], ["listenUnix", `${rw}/socket`]];
  const bare = await runAfter({ ...NOTHING, write: [rw] }, attempts);
  assertEquals(bare.after, ["EACCES", "EACCES"]);
  const granted = await runAfter({ ...NOTHING, write: [rw], symlinks: true, unixSockets: true }, attempts);
  assertEquals(granted.after, ["ok", "ok"]);
});

Deno.test("confine: programs run only from execute places", without("Landlock"), async () => {
  const deno = Deno.realPathSync(Deno.execPath());
  const libraries = ["/usr/lib", "/usr/lib64", "/lib", "/lib64"].flatMap((path) => realPath(path));
  await expect({ ...NOTHING, execute: [deno, ...libraries], write: ["/dev/null"] }, [[["exec", deno], "ok", "ok"]]);
  const readable = { ...NOTHING, read: [deno, ...libraries], write: ["/dev/null"] };
  await expect(readable, [[["exec", deno], "ok", "EACCES"], [["read", deno], "ok", "ok"]]);
});

function realPath(path: string): string[] {
  try {
    return [Deno.realPathSync(path)];
  } catch {
    return [];
  }
}

Deno.test("confine: TCP by port", { ...without("Landlock"), ignore: probe.landlockAbi < 4 }, async () => {
  using allowed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using refused = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const [open, shut] = [allowed, refused].map(({ addr }) => (addr as Deno.NetAddr).port) as [number, number];
  for (const seccomp of probe.seccomp ? [false, true] : [false]) {
    await expect({ ...NOTHING, tcpConnect: [open], seccomp }, [
      [["connect", open], "ok", "ok"],
      [["connect", shut], "ok", "EACCES"],
      [["listen", 0], "ok", seccomp ? "EPERM" : "EACCES"],
    ]);
    // Both ports are taken, by this test: who gets that far was let through.
    await expect({ ...NOTHING, tcpBind: [open], seccomp }, [
      [["listen", open], "EADDRINUSE", "EADDRINUSE"],
      [["listen", shut], "EADDRINUSE", "EACCES"],
    ]);
  }
});

Deno.test("confine: UDP with udp only, and TCP stays shut", without("seccomp"), async () => {
  using server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = server.addr as Deno.NetAddr;
  for (const [udp, result] of [[true, "ok"], [false, "EPERM"]] as const) {
    await expect({ ...NOTHING, read: ["/dev/urandom"], udp, seccomp: true }, [
      [["datagram", "127.0.0.1"], "ok", result],
      [["datagram", "::1"], "ok", result],
      [["connect", port], "ok", "EPERM"],
    ]);
  }
});

Deno.test("confine: a child inherits it, on all its threads", without("Landlock"), async () => {
  using places = makePlaces();
  const { ro, rw, other } = places;
  const repository = Deno.realPathSync(new URL("../..", import.meta.url));
  const deno = Deno.realPathSync(Deno.execPath());
  const libraries = ["/usr/lib", "/usr/lib64", "/lib", "/lib64"].flatMap((path) => realPath(path));
  const rules = {
    ...NOTHING,
    read: [ro, repository, "/proc"],
    write: [rw, "/dev/null"],
    execute: [deno, ...libraries],
  };
  const attempts: Attempt[] = [
    ["readLater", `${ro}/file`],
    ["readLater", `${other}/file`],
    ["readLater", "/etc/passwd"],
    ["write", `${rw}/file`],
    ["write", `${other}/file`],
    ["exec", "/bin/true"],
  ];
  const { before, after, failed } = await run({ rules, attempts, inChild: { config: CONFIG, denoDir: rw } });
  assertEquals(failed, undefined);
  assertEquals(before.slice(0, 5), ["ok", "ok", "ok", "ok", "ok"]);
  assertEquals(after.slice(0, 5), ["ok", "EACCES", "EACCES", "ok", "EACCES"]);
});

Deno.test("confine: stacks, and a second hull gives nothing back", without("Landlock"), async () => {
  using places = makePlaces();
  const { ro, rw, other } = places;
  const attempts: Attempt[] = [["read", `${ro}/file`], ["read", `${other}/file`], ["read", `${rw}/file`]];
  const rules = { ...NOTHING, read: [ro, rw] };
  const narrower = { ...NOTHING, read: [ro, other], seccomp: probe.seccomp };
  const { before, after } = await run({ rules, narrower, attempts });
  assertEquals(before, ["ok", "ok", "ok"]);
  assertEquals(after, ["ok", "EACCES", "EACCES"]);
});

Deno.test("confine: seccomp refuses what Landlock does not see, on every thread", without("seccomp"), async () => {
  using places = makePlaces();
  const { rw, other } = places;
  using server = Deno.listen({ transport: "unix", path: `${other}/socket` });
  await expect({ ...NOTHING, read: ["/"], write: [rw], seccomp: true }, [
    [["chmod", `${rw}/file`], "ok", "EPERM"],
    [["chmodLater", `${other}/file`], "ok", "EPERM"],
    [["chown", `${other}/file`], "ok", "EPERM"],
    [["utime", `${rw}/file`], "ok", "EPERM"],
    [["chdir"], "ok", "EPERM"],
    [["umask"], "ok", "Error: The mask did not change"],
    [["exec", Deno.execPath()], "ok", "EPERM"],
    [["kill", Deno.pid], "ok", "EPERM"],
    [["connectUnix", (server.addr as Deno.UnixAddr).path], "ok", "EPERM"],
    [["socket", 2, 2], "ok", "EPERM"], // UDP
    [["socket", 16, 3], "ok", "EPERM"], // netlink
    [["socket", 2, 1, 262], "ok", "EPERM"], // MPTCP
    [["memfd"], "errno 14", "EPERM"],
    [["unshare"], "ok", "EPERM"],
    // What the WASI host needs, and V8 and tokio with it.
    [["futime", `${rw}/file`], "ok", "ok"],
    [["sync", `${rw}/file`], "ok", "ok"],
    [["readLater", `${rw}/file`], "ok", "ok"],
    [["worker"], "ok", "ok"],
  ]);
});

Deno.test("confine: seccomp refuses ptrace, fork and typing into a terminal", without("seccomp"), async () => {
  const attempts: Attempt[] = [["ptrace"], ["fork"], ["typeIntoTerminal"], ["worker"]];
  assertEquals((await runAfter({ ...NOTHING, seccomp: true }, attempts)).after, ["EPERM", "EPERM", "EPERM", "ok"]);
});

Deno.test("confine: fails closed, naming the place", without("Landlock"), async () => {
  using places = makePlaces();
  Deno.symlinkSync(places.ro, `${places.rw}/link`);
  const cases = [
    [{ read: ["/no/such place"] }, /\/no\/such place: the kernel said ENOENT/],
    [{ write: ["relative"] }, /relative is not an absolute path/],
    [{ read: [`${places.rw}/link`] }, /link: the kernel said ELOOP; it goes through a link/],
    [{ tcpConnect: [65536] }, /65536 is not a port/],
    [{ seccomp: true, unixSockets: true, tcpConnect: [1] }, /unix sockets and TCP/],
    [{ seccomp: true, unixSockets: true, udp: true }, /unix sockets and TCP or UDP/],
  ] as const;
  for (const [part, message] of cases) {
    const { failed, after } = await run({ rules: { ...NOTHING, ...part }, attempts: [["list", "/"]] });
    assertMatch(failed ?? "it was raised", message);
    assertEquals(after, []);
  }
});

Deno.test("limit: file size and open files are errors, not deaths", without("Landlock"), async () => {
  using places = makePlaces();
  const rules = { ...NOTHING, write: [places.rw] };
  const attempts: Attempt[] = [
    ["fill", `${places.rw}/file`, 4096],
    ["fill", `${places.rw}/file`, 4097],
    ["openMany", `${places.rw}/file`, 10],
    ["openMany", `${places.rw}/file`, 100],
  ];
  const { before, after } = await run({ rules, attempts, limits: { fileBytes: 4096, openFiles: 90 } });
  assertEquals(before, ["ok", "ok", "ok", "ok"]);
  assertEquals(after, ["ok", "EFBIG", "ok", "EMFILE"]);
});

Deno.test("dieWithParent: the parent must be the one expected", without("Landlock"), async () => {
  const attempts: Attempt[] = [["umask"]];
  assertEquals((await run({ rules: NOTHING, attempts, parentPid: Deno.pid })).after, ["ok"]);
  const { failed } = await run({ rules: NOTHING, attempts, parentPid: Deno.pid + 1 });
  assertStringIncludes(failed ?? "it went on", `expected pid ${Deno.pid + 1}, the parent is ${Deno.pid}`);
});

Deno.test("dieWithParent: a busy child is killed with its parent", without("Landlock"), async () => {
  const busy: Script = { rules: NOTHING, attempts: [["spin"]], onlyAfter: true, parentPid: 0 };
  const args = ["run", "-q", "-A", "--unstable-net", "--no-check", "--cached-only", "--config", CONFIG, PROGRAM];
  const parent = new Deno.Command(Deno.execPath(), {
    args: [...args, JSON.stringify({ attempts: [["runFixture", CONFIG, JSON.stringify(busy)]] })],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  let output = "";
  for await (const text of parent.stdout.pipeThrough(new TextDecoderStream())) {
    output += text; // both hold the pipe, so that it ends when both are dead
    if (output === "busy\n") parent.kill("SIGKILL");
  }
  assertEquals((await parent.status).signal, "SIGKILL");
  assertEquals(output, "busy\n");
});

Deno.test("closeDescriptorsOnExec: the caller's files do not reach a child", without("Landlock"), async () => {
  const script: Script = { rules: { ...NOTHING, write: ["/dev/null"], execute: ["/"] }, attempts: [["childReads", 7]] };
  const command = [
    Deno.execPath(),
    "run",
    "-q",
    "-A",
    "--unstable-net",
    "--no-check",
    "--cached-only",
    "--config",
    CONFIG,
    PROGRAM,
  ];
  const args = ["-c", 'exec 7</etc/passwd; exec "$@"', "sh", ...command, JSON.stringify(script)];
  const { stdout } = await new Deno.Command("/bin/sh", { args, stdin: "null" }).output();
  const { before, after } = JSON.parse(new TextDecoder().decode(stdout)) as Tried;
  assertEquals(before, ["ok"]);
  assertMatch(after.join(), /No descriptor 7/);
});

const scriptProgram = ["/usr/bin/script", "/bin/script"].find((path) => realPath(path).length > 0);
if (scriptProgram === undefined) console.log("Tests of the terminal left out: util-linux script is not here");

Deno.test("confine: with tty a terminal stays blocking when a worker starts, without it does not", {
  ignore: !hasLandlock || scriptProgram === undefined,
}, async () => {
  const results = await Promise.all([true, false].map(async (tty) => {
    const rules = { ...NOTHING, read: ["/proc"], tty };
    const script: Script = { rules, attempts: [["blocking", 0], ["worker"], ["blocking", 0]] };
    const command = [
      Deno.execPath(),
      "run",
      "-q",
      "-A",
      "--unstable-net",
      "--no-check",
      "--cached-only",
      "--config",
      CONFIG,
      PROGRAM,
    ];
    const line = [...command, JSON.stringify(script)].map((word) => `'${word}'`).join(" ");
    const args = ["-qec", line, "/dev/null"];
    const { stdout } = await new Deno.Command(scriptProgram!, { args, stdin: "null" }).output();
    const { before, after } = JSON.parse(new TextDecoder().decode(stdout)) as Tried;
    assertEquals(before, ["ok", "ok", "ok"]);
    return after;
  }));
  assertEquals(results[0], ["ok", "ok", "ok"]);
  assertEquals(results[1], ["ok", "ok", "Error: non-blocking"]);
});

Deno.test("open: libc comes from the system, not from a file planted in the working folder", {
  ...without("Landlock"),
}, async () => {
  using places = makePlaces();
  Deno.writeTextFileSync(`${places.rw}/libc.so.6`, "not a library");
  const { failed } = await run({ rules: { ...NOTHING, read: ["/"] }, attempts: [["list", "/"]] }, places.rw);
  assertEquals(failed, undefined);
});

Deno.test("close: nothing works afterwards", { ignore: Deno.build.os !== "linux" }, () => {
  const hull = ProcessHull.open();
  assertEquals(hull.terminals().every(({ path }) => path.startsWith("/")), true);
  hull.close();
  assertThrows(() => hull.closeDescriptorsOnExec(), TypeError);
});
