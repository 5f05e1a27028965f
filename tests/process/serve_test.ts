import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { forExecutable, forMode } from "../harness.ts";
import { warmGuest } from "../warm_cache.ts";
import { assertNothingLeft, processesOf, waitForNoProcess } from "./leftovers.ts";
import { reasonOf, serve, type Served, servedProbe, textOf, type WireTask } from "./served.ts";

const [COMPLETED, FAILED, CANCELED] = ["TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED"] as const;

const FOREVER = `printError("at work"); for (;;) {}`;

function stateOf({ status }: WireTask): string {
  return status.state;
}

forExecutable(
  "serve: a message is a task: its text on stdin, stdout its answer, its files handed on, nothing left for the next",
  async (bed) => {
    const served = await serve(bed);
    const hello = await served.send(`print("grüße 漢😀"); "and so on"`);
    assertEquals([stateOf(hello), textOf(hello)], [COMPLETED, 'grüße 漢😀\n"and so on"\n']);
    const file = join(served.folder, "records", "out", `result_${hello.id}.txt`);
    assertEquals(Deno.readTextFileSync(file), 'grüße 漢😀\n"and so on"\n');
    const long = await served.send(`print("a漢😀é".repeat(40_000))`);
    assertEquals(textOf(long)?.startsWith(`${"a漢😀é".repeat(40_000)}\n`), true);
    const makes = `const [dir] = locate("/workdir");
    dir.createDirectoryAt("out"); dir.createDirectoryAt("out/deep");
    writeFile("/workdir/out/report.md", "# done"); writeFile("/workdir/out/deep/data.csv", "1,2");
    writeFile("/workdir/secret.txt", "of this task"); list("/workdir")`;
    const report = await served.send(makes);
    assertEquals([textOf(report, "report.md"), textOf(report, "deep/data.csv")], ["# done", "1,2"]);
    const types = report.artifacts!.map(({ name, parts }) => [name, parts[0]!.mediaType]);
    assertEquals(types.filter(([name]) => name !== "answer"), [["deep/data.csv", "text/csv"], [
      "report.md",
      "text/markdown",
    ]]);
    const next = await served.send(`list("/workdir")`);
    assertEquals(textOf(next), "[]\n");
    assertEquals(await served.stop(), 0);
    const events = served.trace.filter(({ event }) => event.startsWith("task_"));
    assertEquals(events.map(({ event, task_id, origin, state }) => [event, task_id, origin ?? state]), [
      ...[hello, long, report, next].flatMap(({ id }) => [["task_start", id, "user"], ["task_end", id, "completed"]]),
    ]);
    assertEquals(served.trace.at(-1)!["status"], "completed");
    assertNothingLeft(bed);
  },
);

forExecutable("serve: a task that does not end well says why, and the next one runs", async (bed) => {
  const grants = { limits: { output_bytes: 1_000 } };
  const served = await serve(bed, { grants, flags: ["--task-timeout", "3s", "--queue", "8"] });
  const ends: readonly [source: string, reason: RegExp][] = [
    [`exit(3)`, /exit code 3/],
    [`print("so far"); throw "wasi"`, /exit code 1/],
    [FOREVER, /the time for a task is over/],
    [`print("x".repeat(2_000))`, /wrote more than it may/],
  ];
  for (const [source, reason] of ends) {
    const task = await served.send(source);
    assertEquals(stateOf(task), FAILED, source);
    assertMatch(reasonOf(task), reason);
    assert(!JSON.stringify(task).includes(bed.root), "a place of the host's");
  }
  assertEquals(textOf(await served.send("1 + 1")), "2\n");
  assertEquals(await served.stop(), 0);
  assertNothingLeft(bed);
});

forExecutable(
  "serve: what a guest leaves that is no file of its own is refused by its name, and not handed on",
  async (bed) => {
    const secret = bed.folder("secret", { "key.txt": "s3cret" });
    const served = await serve(bed);
    const link =
      `const [dir] = locate("/workdir"); dir.createDirectoryAt("out"); writeFile("/workdir/out/good.txt", "good");
    writeFile("/workdir/aside.txt", "aside");
    [attempt(() => dir.symlinkAt("../aside.txt", "out/link.txt")), attempt(() => dir.symlinkAt("${secret}", "out/away"))]`;
    const task = await served.send(link);
    assertEquals(stateOf(task), COMPLETED, reasonOf(task));
    assertEquals([textOf(task, "good.txt"), textOf(task, "link.txt")], ["good", undefined]);
    assert(!JSON.stringify(task).includes("s3cret"));
    assertEquals(await served.stop(), 0);
    const refused = served.trace.filter(({ event }) => event === "artifact_refused");
    assertEquals(refused.map(({ name, reason }) => [name, reason]), [["link.txt", "it is a link"]]);
  },
);

forExecutable(
  "serve: a cancelled task's cell is gone, those that wait are not, and a paused one holds them",
  async (bed) => {
    const served = await serve(bed);
    const running = await served.submit(FOREVER);
    const waiting = await served.submit(`"after"`);
    await served.untilLogged("at work");
    assertEquals((await bed.run(["pause", served.sessionId])).code, 0);
    assertEquals(stateOf(await served.get(waiting.id)), "TASK_STATE_SUBMITTED");
    assertEquals((await bed.run(["resume", served.sessionId])).code, 0);
    assertEquals(stateOf(await served.cancel(running.id)), CANCELED);
    assertEquals(textOf(await served.ended(waiting.id)), '"after"\n');
    const { stdout } = await bed.run(["ps", "--json"]);
    const [node] = stdout.trim().split("\n").map((line) => JSON.parse(line));
    assertEquals([node.session_id, node.path, node.state, node.verdict], [served.sessionId, "0", "running", "healthy"]);
    assertEquals((await bed.run(["stop", served.sessionId])).code, 0);
    assertEquals(await served.over(), 0);
    assertNothingLeft(bed);
  },
);

forExecutable(
  "serve: tokens: none is refused, a peer is a peer until its token is revoked, and no log has any",
  async (bed) => {
    const served = await serve(bed);
    const { status, error } = await served.call("GetTask", { id: "tsk_x" }, null);
    assertEquals([status, error], [401, "unauthenticated"]);
    assertEquals((await bed.run(["token"])).stdout.trim(), served.token);
    const asJson = async (...words: string[]) => JSON.parse((await bed.run(["token", ...words, "--json"])).stdout);
    assertEquals(await asJson(), { door: served.sessionId, token: served.token });
    const { token: other, ...about } = await asJson("add", "other");
    assertEquals(about, { door: served.sessionId, peer: "other" });
    await untilAccepted(served, other);
    assertEquals(await asJson(served.sessionId, "revoke", "other"), { door: served.sessionId, revoked: "other" });
    const unknown = await bed.run(["token", "revoke", "other", "--json"]);
    assertEquals([unknown.code, unknown.stdout], [2, ""]);
    const peer = (await bed.run(["token", served.sessionId, "add", "editor"])).stdout.trim();
    await untilAccepted(served, peer);
    const task = await served.send("1", peer);
    const started = served.trace.find(({ event, task_id }) => event === "task_start" && task_id === task.id)!;
    assertEquals([started["origin"], started["principal"]], ["peer", "editor"]);
    assertEquals((await bed.run(["token", "revoke", "editor"])).code, 0);
    while ((await served.call("GetTask", { id: task.id }, peer))["status"] !== 401) await pause();
    assertEquals((await bed.run(["token", "revoke", "editor"])).code, 2);
    const folder = join(served.folder, "records", "door");
    assertEquals(Deno.statSync(join(folder, "token")).mode! & 0o777, 0o600);
    assertEquals(await served.stop(), 0);
    const { stderr } = await served.running.result();
    for (const place of [served.folder]) assertEquals(grep(place, served.token!), []);
    assertEquals([stderr.includes(served.token!), grep(served.folder, peer)], [false, []]);
  },
);

forExecutable("serve: an open door is for loopback alone, and says that it is open", async (bed) => {
  const capsule = await servedProbe(bed);
  const refused = await bed.run(["serve", capsule, "--accept", "--open", "--bind", "0.0.0.0"]);
  assertEquals(refused.code, 5);
  assertStringIncludes(refused.lastLine, "--bind 0.0.0.0");
  const served = await serve(bed, { capsule, flags: ["--open"] });
  assertEquals(served.token, undefined);
  assertEquals(textOf(await served.send("2 + 2")), "4\n");
  assertEquals(await served.stop(), 0);
  assertStringIncludes((await served.running.result()).stderr, "the door is open");
});

forExecutable(
  "serve: Ctrl-C ends what runs and tells who waits for it; a second one, or a lost supervisor, leaves nothing",
  async (bed) => {
    const first = await serve(bed);
    const running = first.send(FOREVER);
    await first.untilLogged("at work");
    assertEquals(await first.stop(), 0);
    const ended = await running;
    assertEquals([stateOf(ended), /interrupted/.test(reasonOf(ended))], [FAILED, true]);
    assertNothingLeft(bed);
    const second = await serve(bed, { capsule: join(bed.root, "files", "served") });
    await second.submit(FOREVER);
    await second.untilLogged("at work");
    second.running.child.kill("SIGKILL");
    await second.running.child.status;
    await waitForNoProcess(bed);
    second.close();
    await second.running.result();
  },
);

forExecutable("serve: a second Ctrl-C waits for nothing, also not for a session that hangs", async (bed) => {
  const served = await serve(bed);
  await served.submit(FOREVER);
  await served.untilLogged("at work");
  const session = served.sessionPid;
  Deno.kill(session, "SIGSTOP");
  served.running.child.kill("SIGINT");
  for (let state = ""; state !== "ending";) {
    const { stdout } = await bed.run(["ps", "--json"]);
    state = JSON.parse(stdout.trim().split("\n")[0]!).state;
  }
  served.running.child.kill("SIGINT");
  assertEquals(await served.over(), 130);
  await waitForNoProcess(bed);
  const summary = JSON.parse(Deno.readTextFileSync(join(served.folder, "records", "summary.json")));
  assertEquals([summary.status, summary.ended_by], ["cancelled", "interrupted"]);
});

forExecutable(
  "serve --name: killed in mid-task, it goes on over the same tasks at the same address, and says what was cut",
  async (bed) => {
    const flags = ["--name", "scribe"];
    const first = await serve(bed, { flags });
    const done = await first.send(`"before"`);
    const cut = await first.submit(FOREVER);
    const accepted = await first.submit(`"accepted"`);
    await first.untilLogged("at work");
    const again = await bed.run(["serve", join(bed.root, "files", "served"), "--accept", ...flags]);
    assertEquals(again.code, 1);
    assertStringIncludes(again.lastLine, first.sessionId);
    first.running.child.kill("SIGKILL");
    await first.running.child.status;
    first.close();
    await first.running.result();
    await waitForNoProcess(bed);
    const second = await serve(bed, { capsule: join(bed.root, "files", "served"), flags });
    assertEquals([second.url, second.token], [first.url, first.token]);
    assert(second.sessionId !== first.sessionId);
    assertEquals(textOf(await second.ended(accepted.id)), '"accepted"\n');
    assertEquals(textOf(await second.get(done.id)), '"before"\n');
    const interrupted = await second.get(cut.id);
    assertEquals([stateOf(interrupted), /interrupted/.test(reasonOf(interrupted))], [FAILED, true]);
    assertEquals(second.trace.filter(({ event, task_id }) => event === "task_start" && task_id === cut.id), []);
    assertEquals(await second.stop(), 0);
    // What the killed one had in its temporary folder is a later gc's.
    assertEquals(processesOf(bed), []);
  },
);

forExecutable(
  "serve --name: a session that dies is started again, with its tasks, by the supervisor that lives",
  async (bed) => {
    const served = await serve(bed, { flags: ["--name", "scribe"] });
    const cut = await served.submit(FOREVER);
    const accepted = await served.submit(`"accepted"`);
    await served.untilLogged("at work");
    Deno.kill(served.sessionPid, "SIGKILL");
    for (;;) {
      const task = await served.get(accepted.id).catch(() => undefined);
      if (task?.status.state === COMPLETED) break;
      await pause();
    }
    assertEquals(stateOf(await served.get(cut.id)), FAILED);
    assertEquals(await served.stop(), 0);
    const [dead, next] = bed.sessions();
    const statusOf = (folder: string) =>
      JSON.parse(Deno.readTextFileSync(join(folder, "records", "summary.json"))).status;
    assertEquals([statusOf(dead!), statusOf(next!)], ["crashed", "completed"]);
    assertNothingLeft(bed);
  },
);

forMode(
  "binary",
  "serve: a folder that the operator chose is shared by all tasks, and only what is new is handed on",
  async (bed) => {
    const work = bed.folder("mine", { "out/old.txt": "the operator's" });
    const served = await serve(bed, { flags: ["--work", work] });
    const task = await served.send(`writeFile("/workdir/out/new.txt", "new"); list("/workdir/out")`);
    assertEquals([textOf(task), textOf(task, "new.txt"), textOf(task, "old.txt")], [
      '["new.txt","old.txt"]\n',
      "new",
      undefined,
    ]);
    assertEquals(textOf(await served.send(`readFile("/workdir/out/new.txt")`)), '"new"\n');
    assertEquals(await served.stop(), 0);
    assertEquals(Deno.readTextFileSync(join(work, "out", "new.txt")), "new");
  },
);

forMode(
  "binary",
  "serve: a bare component without a work folder is served, and what cannot be served is refused before a port is bound",
  async (bed) => {
    const served = await serve(bed, { capsule: await warmGuest(bed, "cat") });
    assertEquals(textOf(await served.send("as it came")), "as it came");
    assertEquals(await served.stop(), 0);
    const service = await bed.run(["serve", await warmGuest(bed, "served_probe"), "--accept"]);
    assertEquals(service.code, 2);
    assertStringIncludes(service.lastLine, "serve-http");
  },
);

forExecutable(
  "serve: each task reaches the granted host through one gate, and no other host; what was denied is in the trace",
  async (bed) => {
    const seen: string[] = [];
    const answer = (request: Request) => {
      seen.push(new URL(request.url).pathname);
      return new Response("fetched");
    };
    const listen = { hostname: "127.0.0.1", port: 0, onListen() {} } as const;
    await using granted = Deno.serve(listen, answer);
    await using other = Deno.serve(listen, answer);
    const [base, elsewhere] = [granted, other].map(({ addr }) => `http://127.0.0.1:${addr.port}`);
    const capsule = await servedProbe(bed, {}, "http_probe");
    const served = await serve(bed, { capsule, flags: ["--net", base!] });
    for (const path of ["/first", "/second"]) {
      assertEquals(textOf(await served.send(`request("${base}${path}").text`)), '"fetched"\n');
      const denied = await served.send(`attempt(() => request("${elsewhere}/no")).err.tag ?? "through"`);
      assertEquals(textOf(denied), '"HTTP-request-denied"\n');
    }
    assertEquals(await served.stop(), 0);
    assertEquals(seen, ["/first", "/second"]);
    const asked = served.trace.filter(({ event }) => event === "denied").map(({ asked }) => asked);
    assertEquals(asked.length, 2);
    assertStringIncludes(String(asked[1]), elsewhere!);
    assertNothingLeft(bed);
  },
);

forMode(
  "binary",
  "serve --name: killed again and again under load, no accepted task is lost, and none runs twice",
  async (bed) => {
    const work = bed.folder("mine");
    const flags = ["--name", "scribe", "--work", work];
    const capsule = await servedProbe(bed);
    const accepted: string[] = [];
    for (const kill of ["supervisor", "session", "supervisor"]) {
      const served = await serve(bed, { capsule, flags });
      const before = accepted.length;
      const load = Array.from({ length: 12 }, async (_, at) => {
        const name = `${before}-${at}`;
        const task = await served.submit(`appendFile("/workdir/log", "${name}\\n"); "${name}"`).catch(() => undefined);
        if (task !== undefined) accepted.push(task.id);
      });
      await Promise.all(load);
      await served.ended(accepted[before + 1]!);
      if (kill === "session") {
        Deno.kill(served.sessionPid, "SIGKILL");
        while ((await served.get(accepted.at(-1)!).catch(() => undefined))?.status.state !== COMPLETED) await pause();
        assertEquals(await served.stop(), 0);
      } else {
        served.running.child.kill("SIGKILL");
        await served.running.child.status;
        served.close();
        await served.running.result();
        await waitForNoProcess(bed);
      }
    }
    const last = await serve(bed, { capsule, flags });
    assertEquals(accepted.length, 36);
    const lines = () => Deno.readTextFileSync(join(work, "log")).trimEnd().split("\n");
    let cut = 0;
    for (const id of accepted) {
      const task = await last.ended(id);
      if (stateOf(task) === COMPLETED) {
        const name = JSON.parse(textOf(task)!);
        assertEquals(lines().filter((line) => line === name), [name]);
        continue;
      }
      cut++;
      assertEquals([stateOf(task), /interrupted/.test(reasonOf(task))], [FAILED, true], JSON.stringify(task.status));
    }
    // A kill cuts the one that runs, and no other.
    assert(cut <= 3, `${cut} were cut`);
    assertEquals(new Set(lines()).size, lines().length);
    assertEquals(await last.stop(), 0);
  },
);

async function untilAccepted(served: Served, token: string): Promise<void> {
  while ((await served.call("GetTask", { id: "tsk_x" }, token))["status"] === 401) await pause();
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

/** The files below a folder that hold a text. */
function grep(folder: string, text: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory, isFile }) => {
    const path = join(folder, name);
    if (isDirectory) return grep(path, text);
    return isFile && Deno.readTextFileSync(path).includes(text) ? [path] : [];
  });
}
