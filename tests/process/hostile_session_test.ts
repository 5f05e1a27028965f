/** What a session does to its own folder, once its guest has it in its power, and what its supervisor and the verbs do then. */
import { assert, assertEquals } from "@std/assert";
import { recordEnding } from "../../src/session/mod.ts";
import { Supervisor } from "../../src/supervisor/tree/mod.ts";
import { type Bed, forMode } from "../harness.ts";
import { prepareGuest, startSession } from "./running_session.ts";

const END = '{"event":"session_end","ts":1,"session_id":"x","status":"completed","exit_code":0}';

/** Scripts that run in the session's folder; `$V` is a folder outside of it. */
const SCRIPTS: Readonly<Record<string, string>> = {
  "records is a link": 'mv records gone; ln -s "$V" records',
  "records is a file": "mv records gone; echo > records",
  "records is gone": "rm -r records",
  "nothing can be written in records": "chmod 0 records",
  "trace is a link to a file": 'rm -f records/trace.jsonl; ln -s "$V/file" records/trace.jsonl',
  "trace is a link to nothing": 'rm -f records/trace.jsonl; ln -s "$V/new" records/trace.jsonl',
  "trace is a pipe": "rm -f records/trace.jsonl; mkfifo records/trace.jsonl",
  "trace is a folder": "rm -f records/trace.jsonl; mkdir records/trace.jsonl",
  "trace is a terabyte": "truncate -s 1T records/trace.jsonl",
  "trace is one endless line": "yes | tr -d '\\n' | head -c 8000000 > records/trace.jsonl",
  "trace is torn": 'printf %s \'{"event":"sess\' >> records/trace.jsonl',
  "trace holds an ending": `echo '${END}' >> records/trace.jsonl`,
  "trace ends without end": `yes '${END}' | head -c 4000000 > records/trace.jsonl`,
  "trace nests":
    `(printf '{"event":"session_end","ts":1,"session_id":"x","a":'; yes [ | tr -d '\\n' | head -c 100000) > records/trace.jsonl`,
  "lock is a link": 'rm records/lock; ln -s "$V/file" records/lock',
  "lock is a pipe": "rm records/lock; mkfifo records/lock",
  "lock is another": "rm records/lock; echo > records/lock",
  "summary is a link": 'ln -s "$V/file" records/summary.json',
  "summary is a pipe": "mkfifo records/summary.json",
  "summary is a folder": "mkdir records/summary.json",
  "summary lies": `echo '{"session_id":"x","status":"\\u001b[2J"}' > records/summary.json`,
  "control is a pipe": "mkfifo records/control",
  "control is a link": 'ln -s "$V/file" records/control',
  "control is huge": "truncate -s 1T records/control",
  "control is no socket": 'echo "$V/file" > records/control',
  "control goes nowhere": "echo /nowhere > records/control",
  "completion and plan are pipes": "rm -f records/plan.json; mkfifo records/completion.json records/plan.json",
  "logs is a link": 'rm -r runtime/logs; ln -s "$V" runtime/logs',
  "logs are pipes": "mkfifo runtime/logs/stderr.log runtime/logs/stdout.log",
  "work goes deep": "cd work; for i in $(seq 80); do mkdir 0123456789012345678901234567890123456789; cd 0*; done",
  "nothing may be read": "chmod 0 records/trace.jsonl runtime work",
};

forMode(
  "binary",
  "hostile session: whatever it makes of its folder, its end is told, nothing outside is touched, no verb hangs or hides another",
  async (bed) => {
    const outside = bed.folder("outside", { file: "kept", "trace.jsonl": "kept", lock: "kept" });
    const before = listing(outside);
    const ids: string[] = [];
    for (const [name, script] of Object.entries(SCRIPTS)) {
      ids.push(await runScript(bed, { name, script, outside }));
      assertEquals([name, listing(outside)], [name, before]);
    }
    const last = await runWell(bed);
    for (const verb of [["ps"], ["sessions", "--limit", "all"], ["gc", "--dry-run", "--older-than", "0"]]) {
      const { stdout } = await look(bed, verb);
      if (verb[0] === "sessions") { for (const id of [...ids, last]) assert(stdout.includes(id), id); }
    }
    for (const id of ids) {
      await Promise.all([["trace", "show", id], ["trace", "follow", id], ["logs", id]].map((verb) => look(bed, verb)));
      assert((await look(bed, ["stop", id])).code > 0);
    }
    assertEquals((await look(bed, ["rm", ...ids])).code, 0);
    assertEquals(bed.sessions().map((folder) => folder.split("/").at(-1)), [last]);
    assertEquals(listing(outside), before);
  },
);

interface Script {
  readonly name: string;
  readonly script: string;
  readonly outside: string;
}

/** A session that is a script; its supervisor is told how it ended, records it, and goes on. Gives its id. */
async function runScript(bed: Bed, { name, script, outside }: Script): Promise<string> {
  const prepared = await prepareGuest(bed, "ok");
  const { places } = prepared;
  await using tree = new Supervisor({ treeTokens: 10, ports: { record: (ending) => recordEnding(places, ending) } });
  const launch = {
    program: "/bin/sh",
    args: ["-c", `cd '${places.root}' && { ${script}; }; exit 7`],
    env: { PATH: "/usr/bin:/bin", V: outside },
    payload: prepared.launch.payload,
  };
  const child = tree.spawn({ limits: launch.payload.limits, role: "command", prepare: () => launch });
  assert(child.kind === "child");
  const { status, exit, tail } = await child.ended;
  assertEquals([name, status, exit?.code, tail], [name, "crashed", 7, ""]);
  assertEquals([name, tree.list()], [name, []]);
  prepared[Symbol.dispose]();
  return places.id;
}

/** A session that ends as it should, beside those. Gives its id. */
async function runWell(bed: Bed): Promise<string> {
  await using started = await startSession(bed, "ok");
  assertEquals((await started.session.result()).code, 0);
  return started.prepared.places.id;
}

/** A verb comes back, with a code of its own and no escape character. */
async function look(bed: Bed, verb: readonly string[]): Promise<{ code: number; stdout: string }> {
  const { code, stdout, stderr } = await bed.run(verb);
  assert(code >= 0 && code <= 5, `${verb}: ${code}: ${stderr}`);
  assert(!/[^\n\t\x20-\x7e\u00a0-\uffff]/.test(stdout + stderr), `${verb}: ${stdout}${stderr}`);
  assert(!/internal|TypeError/.test(stderr), `${verb}: ${stderr}`);
  return { code, stdout };
}

/** Names, kinds, modes and contents of a folder. */
function listing(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => {
    const { mode, isFile } = Deno.lstatSync(`${folder}/${name}`);
    return `${name} ${mode} ${isFile ? Deno.readTextFileSync(`${folder}/${name}`) : ""}`;
  }).sort();
}
