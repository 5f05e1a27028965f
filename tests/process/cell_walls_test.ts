import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { forExecutable, forMode } from "../harness.ts";
import { argumentsOf, descriptorsOf, environmentOf, statusField } from "../processes.ts";
import { startProbe } from "./guest_run.ts";
import { assertNothingLeft } from "./leftovers.ts";
import { warmGuest } from "../warm_cache.ts";

/** What a caller might have in its environment, none of it for a guest or a child. */
const CALLERS = {
  OPENAI_API_KEY: "sk-secret",
  LD_DEBUG_OUTPUT: "x",
  HTTP_PROXY: "http://127.0.0.1:9",
  DENO_NO_PROMPT: "1",
  BOLL_CHILD_EXTRA: "x",
};

forExecutable(
  "cell: its environment has exactly the names and values of the design, whatever the caller had",
  async (bed) => {
    const { running, main, cell } = await startProbe(bed, "readStdin()", ["--env", "GRANTED=value"], { env: CALLERS });
    const { DENO_DIR, DENO_NO_UPDATE_CHECK, HOME, TMPDIR, ...rest } = environmentOf(cell);
    assertEquals(rest, { PATH: "/usr/local/bin:/usr/bin:/bin", BOLL_CHILD: "cell", BOLL_PARENT_PID: String(main) });
    assertEquals(
      [DENO_DIR !== undefined, DENO_NO_UPDATE_CHECK],
      bed.mode === "source" ? [true, "1"] : [false, undefined],
    );
    assertEquals(HOME, TMPDIR);
    await running.closeStdin();
    await running.result();
  },
);

forExecutable("cell: its HOME is a private folder of this run alone, and gone afterwards", async (bed) => {
  const [one, two] = [await startProbe(bed, "readStdin()"), await startProbe(bed, "readStdin()")];
  const homes = [one, two].map(({ cell }) => environmentOf(cell)["HOME"] ?? "");
  assertNotEquals(homes[0], homes[1]);
  for (const home of homes) {
    const { mode, uid } = Deno.lstatSync(home);
    assertEquals([(mode ?? 0) & 0o777, uid], [0o700, Deno.uid()]);
    assert(home.length <= 80, home);
    // The nonce was read and unlinked; the socket listens no more once its cell is known.
    assertEquals([...Deno.readDirSync(home)].filter(({ name }) => name === "n"), []);
  }
  for (const { running } of [one, two]) {
    await running.closeStdin();
    assertEquals((await running.result()).code, 0);
  }
  assertNothingLeft(bed);
});

forExecutable("cell: its command line is boll's own, without the capsule and its arguments", async (bed) => {
  const { running, main, cell } = await startProbe(bed, "readStdin() // guest-argument");
  const words = argumentsOf(cell);
  assertEquals(words[0], argumentsOf(main)[0]);
  if (bed.mode === "binary") assertEquals(words.length, 1);
  else assert(words.includes("--no-prompt") && words.includes("--cached-only"));
  assert(!words.join(" ").includes("guest-argument"));
  await running.closeStdin();
  await running.result();
});

forExecutable("cell: of a caller's descriptors 0 to 2 reach it, and no other", async (bed) => {
  const folder = bed.folder("open", { "three.txt": "3", "seven.txt": "7", "high.txt": "h", "in.txt": "" });
  const probe = await warmGuest(bed, "probe");
  const line = bed.command(["run", probe, "--", 'print("up"); monotonicClock.subscribeDuration(3e18).block()'])
    .map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const child = new Deno.Command("bash", {
    args: ["-c", `exec ${line} 3<three.txt 7<seven.txt 200<high.txt <in.txt`],
    cwd: folder,
    clearEnv: true,
    env: bed.environment(),
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  const own = Object.values(descriptorsOf(child.pid)).filter((path) => path.startsWith(folder)).sort();
  const [cell = 0] = Deno.readTextFileSync(`/proc/${child.pid}/task/${child.pid}/children`).split(" ").map(Number);
  const given = Object.values(descriptorsOf(cell)).filter((path) => path.startsWith(folder));
  child.kill("SIGTERM");
  await reader.cancel();
  assertEquals((await child.status).code, 130);
  assertEquals(own.filter((path) => !path.endsWith("in.txt")).length, 3, "the caller's files do reach boll itself");
  assertEquals([...new Set(given)], [`${folder}/in.txt`]);
});

forMode(
  "binary",
  "cell: no_new_privs and seccomp hold on every thread, with a thread of the guest's own and without",
  async (bed) => {
    for (const flags of [[], ["--mount", `${bed.folder("data")}:/data:rw`]]) {
      const { running, cell } = await startProbe(bed, "readStdin()", flags);
      const threads = [...Deno.readDirSync(`/proc/${cell}/task`)].map(({ name }) => Number(name));
      assert(threads.length > 1);
      for (const thread of threads) {
        const found = ["NoNewPrivs", "Seccomp"].map((field) => statusField(thread, field));
        assertEquals(found, ["1", "2"], `thread ${thread} of ${threads.length}`);
      }
      await running.closeStdin();
      assertEquals((await running.result()).code, 0);
    }
  },
);

forMode(
  "binary",
  "cell: its resource limits are those of its grants, soft and hard, and it dumps no core",
  async (bed) => {
    const { running, cell } = await startProbe(bed, "readStdin()", ["--memory", "100m"]);
    const limits = Deno.readTextFileSync(`/proc/${cell}/limits`).split("\n");
    const limit = (name: string) =>
      limits.find((line) => line.startsWith(name))?.slice(26).trim().split(/\s+/).slice(0, 2);
    assertEquals(limit("Max core file size"), ["0", "0"]);
    assertEquals(limit("Max file size"), [String(4 * 2 ** 30), String(4 * 2 ** 30)]);
    const [soft, hard] = (limit("Max data size") ?? []).map(Number);
    assertEquals(soft, hard);
    assert(soft !== undefined && soft >= 600_000_000 + 100 * 2 ** 20 && soft < 2 ** 31, `data ${soft}`);
    assertEquals(limit("Max open files"), [String(256 + 128), String(256 + 128)]);
    await running.closeStdin();
    await running.result();
  },
);
