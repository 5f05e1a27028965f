import { assertEquals, assertMatch } from "@std/assert";
import { VERBS } from "../../src/cli/verbs.ts";
import { type Bed, fixture, forMode } from "../harness.ts";
import { serve } from "../process/served.ts";
import { Terminal } from "../terminal.ts";
import { warmGuest } from "../warm_cache.ts";
import { EVERY_HOSTILITY, HostileDoor } from "./hostile_door.ts";

/** Clears the screen, sets the window's title, turns the text around, and colours it by a single byte. */
const HOSTILE = "\u001b[2J\u001b]0;title\u0007\u202e\u009b31m";

/** What must not reach a terminal: controls but newline and tab, and characters that are not seen. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** An address where nobody listens: the discard service's, which is no door. */
const NOBODY = "http://127.0.0.1:9/";

/** What a command showed, by its words, of those that showed what is {@link UNSAFE}. */
function leaks(shown: readonly (readonly [words: string, text: string])[]) {
  // A terminal makes two of a newline.
  return shown.filter(([, text]) => UNSAFE.test(text.replaceAll("\r\n", "\n").replace(/[\n\t]/g, "")));
}

/** Runs boll at a terminal, and gives all that came to the screen. */
async function onTerminal(bed: Bed, words: readonly string[]): Promise<string> {
  await using terminal = new Terminal(bed.command(words), { scratch: bed.root, cwd: bed.root, env: bed.environment() });
  await terminal.end();
  return terminal.output.text;
}

/** A capsule in a folder of such a name, with such texts wherever a manifest has some. */
function hostileCapsule(bed: Bed, component: string, manifest: Record<string, unknown>): string {
  const text = JSON.stringify({ name: "evil", version: "0.1.0", component: "guest.wasm", ...manifest });
  const folder = bed.folder(`evil-${HOSTILE}-${crypto.randomUUID()}`, {
    "capsule.jsonc": text,
    "playbook.json": '{"turns":[]}',
  });
  Deno.copyFileSync(component, `${folder}/guest.wasm`);
  return folder;
}

/** Agents whose one tool says such things. */
async function hostileAgents(bed: Bed): Promise<string[]> {
  const component = await warmGuest(bed, "tool_probe");
  return [
    hostileCapsule(bed, component, {
      description: HOSTILE,
      component: undefined,
      inference: { dialect: "scripted", uri: "playbook.json" },
      tools: [{ name: "hostile-words", component: "guest.wasm" }],
    }),
  ];
}

/** A tool's answer is exact in a pipe: what is asked for here goes elsewhere. */
function callHostile(agent: string, does: string): string[] {
  const text = does === "echo" ? "" : HOSTILE;
  return ["tool", agent, "hostile-words", JSON.stringify({ do: does, text, level: "warn", code: 1 }), "--accept"];
}

/** Verb → command lines that show text of others, or repeat what they were told. */
function commandLines(
  bed: Bed,
  capsules: readonly string[],
  agents: readonly string[],
): Record<string, readonly (readonly string[])[]> {
  const missing = `nowhere-${HOSTILE}`;
  const onCapsules = (verb: string) => [...capsules, missing].map((capsule) => [verb, capsule]);
  const repeats = (verb: string) => [[verb, HOSTILE], [verb, `--${HOSTILE}`]];
  return {
    run: [
      ...onCapsules("run"),
      ...capsules.map((capsule) => ["run", capsule, "--accept", "--dry-run"]),
      ["run", capsules[0]!, "--mount", `${bed.root}/${HOSTILE}:/${HOSTILE}:ro`],
      ["run", capsules[0]!, "--net", HOSTILE],
      ["run", capsules[0]!, "--env", HOSTILE],
      ...agents.flatMap((agent) => [
        ["run", "--accept", agent, "a task"],
        ["run", "--accept", agent, "a task", HOSTILE],
        ["run", "--accept", "--task-file", missing, agent],
        ["run", "--accept", "--json", agent, "a task"],
        ...["uri", "model", "dialect", "api-key"].map((flag) => ["run", `--${flag}`, HOSTILE, agent, "a task"]),
      ]),
    ],
    chat: [
      ...repeats("chat"),
      ...onCapsules("chat"),
      ...agents.flatMap((agent) => [
        ["chat", "--accept", agent],
        ...["uri", "model", "dialect", "api-key"].map((flag) => ["chat", `--${flag}`, HOSTILE, agent]),
      ]),
    ],
    "serve-http": [...onCapsules("serve-http"), ["serve-http", capsules[0]!, "--listen", HOSTILE]],
    // Where none of them comes to serve: the doors that are open have a test of their own.
    serve: [
      ...[...capsules, missing].map((capsule) => ["serve", capsule, "--accept", "--name", HOSTILE]),
      ["serve", capsules.at(-1)!, "--accept"],
      ...["bind", "host", "port", "queue", "task-timeout"].map((flag) => ["serve", capsules[0]!, `--${flag}`, HOSTILE]),
    ],
    send: [
      ...repeats("send"),
      ["send", HOSTILE, HOSTILE],
      ["send", `http://${HOSTILE}/`, HOSTILE],
      ["send", `http://${HOSTILE}@127.0.0.1:9/`, HOSTILE],
      ["send", `${NOBODY}${HOSTILE}`, HOSTILE, "--token", HOSTILE, "--context", HOSTILE, "--task", HOSTILE],
    ],
    watch: [...repeats("watch"), ["watch", HOSTILE, HOSTILE], ["watch", `${NOBODY}${HOSTILE}`, HOSTILE]],
    cancel: [...repeats("cancel"), ["cancel", HOSTILE, HOSTILE], ["cancel", `${NOBODY}${HOSTILE}`, HOSTILE]],
    token: [
      ...repeats("token"),
      ["token", HOSTILE, HOSTILE],
      ["token", HOSTILE, "add", HOSTILE],
      ["token", "add", HOSTILE, HOSTILE],
      ["token", "revoke", HOSTILE, "--json"],
    ],
    tool: [
      ...onCapsules("tool"),
      ["tool", capsules[0]!, HOSTILE, HOSTILE],
      ...agents.flatMap((agent) => [
        ["tool", agent, "--accept"],
        ["tool", agent, "hostile-words", "{", "--accept"],
        ["tool", agent, HOSTILE, "--accept"],
        ...["echo", "fail", "trap", "exit"].map((does) => callHostile(agent, does)),
        ...["log", "emit", "say"].map((does) => callHostile(agent, does)),
      ]),
    ],
    check: onCapsules("check"),
    explain: [
      ...onCapsules("explain"),
      ["explain", capsules[0]!, "--json"],
      ...agents.map((agent) => ["explain", agent]),
    ],
    trace: [...repeats("trace"), ["trace", "show", HOSTILE], ["trace", "show", "last"], ["trace", "follow", "last"]],
    sessions: [...repeats("sessions"), ["sessions"], ["sessions", "--json"], ["sessions", "--status", HOSTILE]],
    ps: [...repeats("ps"), ["ps"]],
    stop: repeats("stop"),
    pause: repeats("pause"),
    resume: repeats("resume"),
    logs: [...repeats("logs"), ["logs", "last"]],
    rm: repeats("rm"),
    gc: [...repeats("gc"), ["gc", "--older-than", HOSTILE], ["gc", "--dry-run"]],
    init: [...repeats("init"), ["init", capsules[0]!]],
    lock: [...repeats("lock"), ["lock", capsules[0]!]],
    doctor: [...repeats("doctor"), ["doctor"]],
    version: repeats("version"),
    help: repeats("help"),
  };
}

forMode("binary", "boll: no verb lets escape codes of names, manifests, guests and arguments through", async (bed) => {
  const hello = await fixture("hello_stdio");
  const probe = await fixture("probe");
  const texts = { description: HOSTILE, args: [HOSTILE] };
  const capsules = [
    hostileCapsule(bed, hello, texts),
    hostileCapsule(bed, hello, { ...texts, grants: { fs: { mounts: [{ guest: `/${HOSTILE}`, mode: "ro" }] } } }),
    hostileCapsule(bed, hello, { ...texts, grants: { env: [HOSTILE], net: [`https://${HOSTILE}`] } }),
    hostileCapsule(bed, hello, { [HOSTILE]: HOSTILE, name: HOSTILE }),
    hostileCapsule(bed, await fixture("wants_evil"), texts),
  ];
  // A guest asks for what it may not have, by such a name: boll says so, and records it.
  const asks = 'attempt(() => open("/data/../" + args[0])); null';
  const flags = ["--mount", `${bed.folder("data")}:/data:ro`];
  const denied = await bed.run(["run", probe, ...flags, "--", asks, HOSTILE]);
  const lines = commandLines(bed, capsules, await hostileAgents(bed));
  assertEquals(Object.keys(lines).sort(), VERBS.map(({ name }) => name).sort());
  const shown: [string, string][] = [["denied", denied.stdout + denied.stderr]];
  for (const words of Object.values(lines).flat()) {
    const { stdout, stderr } = await bed.run(words);
    shown.push([words.join(" "), stdout + stderr]);
  }
  assertEquals(leaks(shown), []);
  // The text is there, in a form that does nothing; that of a tool too.
  assertMatch(shown.find(([words]) => words.includes('"do":"fail"'))![1], /answers with an error: \\u\{1b\}\[2J/);
  assertMatch(denied.stderr, /\\u001b\[2J/);
});

forMode(
  "binary",
  "boll: a served capsule's answer is exact in a pipe; all else, and a terminal, gets it safe",
  async (bed) => {
    const capsule = hostileCapsule(bed, await warmGuest(bed, "probe"), {
      description: HOSTILE,
      args: ["return eval(readStdin())"],
      grants: { fs: { work: "rw" } },
    });
    const served = await serve(bed, { capsule, flags: ["--name", "evil"] });
    const text = JSON.stringify(HOSTILE);
    const answers = `print(${text}); 7`;
    const shown: [string, string][] = [];
    const note = async (words: readonly string[]) => {
      const result = await bed.run(words);
      shown.push([words.join(" "), result.stdout + result.stderr]);
      return result;
    };

    for (const flags of [[], ["--stream"]]) {
      const piped = await bed.run(["send", "evil", answers, ...flags]);
      assertEquals([piped.code, piped.stdout, piped.stderr], [0, `${HOSTILE}\n7\n`, ""]);
      const screen = await onTerminal(bed, ["send", "evil", answers, ...flags]);
      shown.push([`at a terminal ${flags}`, screen]);
      assertMatch(screen, /\\u\{1b\}\[2J/);
    }
    const told = JSON.parse((await note(["send", "evil", answers, "--json"])).stdout);
    assertEquals(told.answer, `${HOSTILE}\n7\n`);
    assertEquals((await note(["send", "evil", `printError(${text}); throw new Error(${text})`])).code, 1);
    await note([
      "send",
      "evil",
      `const [dir] = locate("/workdir"); dir.createDirectoryAt("out");
    writeFile("/workdir/out/" + ${text}, "a"); 8`,
    ]);
    await note(["send", "evil", HOSTILE]);
    await note(["send", "evil", answers, "--json", "--context", HOSTILE]);
    await note(["send", "evil", answers, "--task", HOSTILE]);
    await note(["send", "evil", answers, "--token", HOSTILE]);

    const watched = await bed.run(["watch", "evil", told.task_id]);
    assertEquals([watched.stdout, watched.stderr], [told.answer, ""]);
    shown.push(["watch at a terminal", await onTerminal(bed, ["watch", "evil", told.task_id])]);
    for (
      const words of [["watch", "evil"], ["watch", "evil", HOSTILE], ["cancel", "evil", HOSTILE], ["cancel", HOSTILE]]
    ) {
      assertEquals((await note(words)).code === 0, false, words.join(" "));
      await note([...words, "--json"]);
    }
    await note(["cancel", "evil", told.task_id]);
    assertEquals((await note(["token", "evil", "add", "peer"])).code, 0);
    for (const action of ["add", "revoke"]) assertEquals((await note(["token", "evil", action, HOSTILE])).code, 2);
    for (const words of [["ps"], ["sessions"], ["logs", "last"], ["trace", "show", "last"]]) await note(words);
    // Somebody wrote other names into the list of peers.
    const peers = [{ name: HOSTILE, token_hash: "0".repeat(64) }];
    Deno.writeTextFileSync(`${bed.home}/services/evil/peers.json`, JSON.stringify(peers));
    assertEquals((await note(["token", "evil", "revoke", "peer"])).code === 0, false);

    assertEquals(await served.stop(), 0);
    const { stdout, stderr } = await served.running.result();
    // A component alone is called by its file's name.
    const bare = `${bed.folder("bare")}/${HOSTILE}.wasm`;
    Deno.copyFileSync(await warmGuest(bed, "probe"), bare);
    const second = bed.start(["serve", bare, "--accept"]);
    await second.stderr.waitFor("its token");
    second.child.kill("SIGINT");
    const ended = await second.result();
    shown.push(["serve", stdout + stderr], ["serve a component", ended.stdout + ended.stderr]);
    assertEquals(leaks(shown), []);
  },
);

forMode("binary", "boll: nothing that a hostile door says comes to a terminal as it is", async (bed) => {
  for (const hostility of EVERY_HOSTILITY) {
    await using door = new HostileDoor(hostility, HOSTILE);
    const { url } = door;
    const answering = [["send", url, "1"], ["send", url, "1", "--stream"], ["watch", url], ["watch", url, "tsk"]];
    const files = bed.folder(`files-${crypto.randomUUID()}`);
    const others = [
      ["send", url, "1", "--stream", "--json"],
      ["watch", url, "tsk", "--json"],
      ["send", url, "1", "--no-wait"],
      ["send", url, "1", "--json", "--files", files],
      ["cancel", url, "tsk"],
      ["cancel", url, "tsk", "--json"],
    ];
    const shown: [string, string][] = [];
    // Together: whoever never ends is asked again for a while.
    const answers = await Promise.all([...answering, ...others].map((words) => bed.run(words)));
    for (const [i, words] of answering.entries()) {
      const { stdout, stderr } = answers[i]!;
      // An answer is whole, or there is none.
      if (stdout !== "") assertEquals(stdout, HOSTILE, words.join(" "));
      shown.push([words.join(" "), stderr]);
    }
    for (const [i, words] of others.entries()) {
      const { stdout, stderr } = answers[answering.length + i]!;
      shown.push([words.join(" "), stdout + stderr]);
    }
    for (const words of answering.slice(1, 3)) {
      shown.push([`terminal: ${words.join(" ")}`, await onTerminal(bed, words)]);
    }
    assertEquals(leaks(shown), [], hostility);
    assertEquals(shown.some(([, text]) => text.includes("boll: internal")), false, JSON.stringify(shown));
    // The text is there, in a form that does nothing.
    assertEquals(shown.some(([, text]) => text.includes("\\u{1b}[2J")), true, JSON.stringify(shown));
    const names = [...Deno.readDirSync(files)].map(({ name }) => name);
    assertEquals(names.filter((name) => UNSAFE.test(name)), []);
  }
});
