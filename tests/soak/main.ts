/**
 * `make soak`: a supervisor with forty sessions for five minutes, paused, resumed, stopped and drained; then killed ten
 * times in the middle; then the same as the first process of a namespace. Exits non-zero when a process, a slot, a
 * reservation or a record was lost, an ending had another cause than it must, or memory grew.
 *
 *     tests/soak/main.ts [--seconds N] [--sessions N] [--kills N] [--seed N]
 * @module
 */
import { join } from "@std/path";
import { OutputReader } from "../running_boll.ts";

interface Line extends Record<string, unknown> {
  readonly root?: string;
  readonly alive?: number;
  readonly rss?: number;
}

const option = (name: string, otherwise: number) => {
  const at = Deno.args.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(Deno.args[at + 1]);
};
const [seconds, sessions, kills] = [option("seconds", 300), option("sessions", 40), option("kills", 10)];
const seed = option("seed", Date.now() % 1_000_000);
const config = join(import.meta.dirname!, "../../deno.json");
const program = join(import.meta.dirname!, "tree_program.ts");
/** How long what a killed supervisor leaves may live, ms. */
const ORPHAN_MS = 3_000;
/** So much more memory at the end than after the first quarter is a leak, when there are so many sizes to compare. */
const GROWTH = 1.3;
const ENOUGH_SIZES = 30;
const faults: string[] = [];

/** A tree that runs. */
class Soak {
  readonly child: Deno.ChildProcess;
  readonly #output: OutputReader;
  readonly #errors: OutputReader;
  root = "";

  constructor(asFirst: boolean, count = sessions) {
    const command = [Deno.execPath(), "run", "-A", "--no-check", "--quiet", `--config=${config}`, program];
    const words = asFirst ? ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", ...command] : command;
    this.child = new Deno.Command(words[0]!, {
      args: [...words.slice(1), String(count), String(seed)],
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#output = new OutputReader(this.child.stdout);
    this.#errors = new OutputReader(this.child.stderr);
  }

  lines(): Line[] {
    return this.#output.text.split("\n").filter((line) => line.endsWith("}")).map((line) => JSON.parse(line));
  }

  /** Waits until it says so. */
  async until(fits: (line: Line) => boolean): Promise<Line> {
    for (let seen = 0;; seen++) {
      const found = this.lines().find(fits);
      if (found !== undefined) return found;
      await this.#output.waitFor(new RegExp(`(?:.*\\n){${this.lines().length + 1}}`)).catch((error) => {
        throw new Error(`${error.message}\n${this.#errors.text}`);
      });
    }
  }

  async open(): Promise<this> {
    this.root = String((await this.until(({ root }) => root !== undefined)).root);
    return this;
  }

  async end(): Promise<number> {
    const { code } = await this.child.status;
    await Promise.all([this.#output.toEnd(), this.#errors.toEnd()]);
    if (this.#errors.text.trim() !== "") console.log(this.#errors.text.slice(-2_000));
    return code;
  }
}

/** Every living process that was started below the soak's folder. */
function left(root: string): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    try {
      return pid > 0 && pid !== Deno.pid && Deno.readTextFileSync(`/proc/${pid}/environ`).includes(`${root}/`);
    } catch {
      return false;
    }
  });
}

function check(holds: boolean, fault: string): void {
  console.log(`${holds ? "ok  " : "LOST"} ${fault}`);
  if (!holds) faults.push(fault);
}

function boll(soak: Soak, ...args: string[]): string {
  const { stdout } = new Deno.Command(join(import.meta.dirname!, "../../dist/boll"), {
    args,
    env: { BOLL_HOME: `${soak.root}/home`, XDG_RUNTIME_DIR: `${soak.root}/run`, NO_COLOR: "1" },
  }).outputSync();
  return new TextDecoder().decode(stdout);
}

function unended(soak: Soak): string[] {
  const listed = boll(soak, "sessions", "--limit", "all", "--json").trim().split("\n").filter((line) => line !== "");
  return listed.map((line) => JSON.parse(line)).filter(({ status }) => /running|unreadable/.test(status));
}

async function soakOnce(asFirst: boolean): Promise<void> {
  const name = asFirst ? "as the first process" : "as any process";
  const soak = await new Soak(asFirst).open();
  await soak.until(({ alive = 0 }) => alive >= sessions * 0.7);
  if (!asFirst) console.log(boll(soak, "ps").split("\n").slice(0, 12).join("\n"));
  await new Promise((resolve) => setTimeout(resolve, 1_000 * (asFirst ? Math.min(seconds, 30) : seconds)));
  const pid = asFirst ? firstChild(soak.child.pid) : soak.child.pid;
  Deno.kill(pid, "SIGTERM");
  const code = await soak.end();
  const lines = soak.lines();
  const report = lines.at(-1)!;
  console.log(JSON.stringify(lines.at(-2)));
  check(code === 0, `${name}: drained cleanly: ${JSON.stringify(report).slice(0, 4_000)}`);
  check(report["slots"] === 0 && report["reserved"] === 0, `${name}: no slot and no reservation is left`);
  check(left(soak.root).length === 0, `${name}: no process is left`);
  check(unended(soak).length === 0, `${name}: every session has its ending on record`);
  const sizes = lines.flatMap(({ rss }) => rss === undefined ? [] : [rss]);
  const [early, late] = [
    median(sizes.slice(sizes.length >> 2, sizes.length >> 1)),
    median(sizes.slice(-(sizes.length >> 2))),
  ];
  const grown = `memory ${(early / 1e6).toFixed(0)} MB, then ${(late / 1e6).toFixed(0)} MB`;
  check(sizes.length < ENOUGH_SIZES || late < early * GROWTH, `${name}: ${grown}`);
  Deno.removeSync(soak.root, { recursive: true });
}

async function killOnce(asFirst: boolean): Promise<void> {
  const soak = await new Soak(asFirst).open();
  await soak.until(({ alive = 0 }) => alive >= sessions * 0.7);
  const before = left(soak.root).length;
  const pid = asFirst ? firstChild(soak.child.pid) : soak.child.pid;
  Deno.kill(pid, "SIGKILL");
  const killedAt = performance.now();
  while (left(soak.root).length > 0 && performance.now() - killedAt < 2 * ORPHAN_MS) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const ms = Math.round(performance.now() - killedAt);
  for (const pid of left(soak.root)) console.log(`still there: ${Deno.readTextFileSync(`/proc/${pid}/cmdline`)}`);
  await soak.end();
  const open = unended(soak);
  check(
    ms < ORPHAN_MS,
    `${asFirst ? "as the first process, " : ""}killed with ${before} processes: nobody left after ${ms} ms`,
  );
  check(open.length === 0, `every session has an ending: ${open.length} have none`);
  Deno.removeSync(soak.root, { recursive: true });
}

function firstChild(pid: number): number {
  return Number(Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`).split(" ")[0]);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
}

console.log(`soak: ${sessions} sessions, ${seconds} s, seed ${seed}`);
await soakOnce(false);
for (let kill = 0; kill < kills; kill++) await killOnce(false);
await soakOnce(true);
await killOnce(true);
console.log(faults.length === 0 ? "soak: nothing lost" : `soak: ${faults.length} faults`);
Deno.exit(faults.length === 0 ? 0 : 1);
