import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { forExecutable } from "../harness.ts";
import { serve } from "./served.ts";

const FILE = `const [dir] = locate("/workdir"); dir.createDirectoryAt("out"); writeFile("/workdir/out/a.md", "# a");`;

forExecutable("send, watch, cancel: by name, by session and by URL, each with its exit status", async (bed) => {
  const served = await serve(bed, { flags: ["--name", "scribe"] });
  const answer = await bed.run(["send", "scribe", "1 + 1"]);
  assertEquals([answer.code, answer.stdout, answer.stderr], [0, "2\n", ""]);
  assertEquals((await bed.run(["send", served.sessionId, "2 + 2"])).stdout, "4\n");
  assertEquals((await bed.run(["send", served.url, "3 + 3"])).stdout, "6\n");
  const piped = await bed.run(["send", "scribe", "-", "--stream"], { stdin: `print("one"); "two"` });
  assertEquals([piped.code, piped.stdout], [0, 'one\n"two"\n']);
  const kept = bed.folder("kept");
  const withFile = await bed.run(["send", "scribe", `${FILE} 7`, "--json", "--files", kept]);
  const { state, files, ...ids } = JSON.parse(withFile.stdout);
  assertEquals([state, files], [
    "completed",
    [{ name: "a.md", media_type: "text/markdown", size: 3, path: join(kept, "a.md") }],
  ]);
  assertEquals(Deno.readTextFileSync(join(kept, "a.md")), "# a");
  assertEquals((await bed.run(["send", "scribe", `${FILE} 8`, "--files", kept])).code, 2); // written over nothing
  const same = await bed.run(["send", "scribe", "9", "--json", "--context", ids.context_id]);
  assertEquals(JSON.parse(same.stdout).context_id, ids.context_id);
  const failed = await bed.run(["send", "scribe", "exit(3)"]);
  assertEquals(failed.code, 1);
  assertStringIncludes(failed.lastLine, "exit code 3");

  const submitted = await bed.run(["send", "scribe", `printError("at work"); for (;;) {}`, "--no-wait"]);
  const task = submitted.stdout.trim();
  await served.untilLogged("at work");
  const watching = bed.start(["watch", "scribe", "--json"]);
  await watching.stdout.waitFor(task);
  const cancelled = await bed.run(["cancel", task, "--json"]);
  assertEquals([cancelled.code, JSON.parse(cancelled.stdout).state], [0, "canceled"]);
  for (const words of [[], ["tsk_1"]]) {
    const unclear = await bed.run(["cancel", ...words]);
    assertEquals(unclear.code, 2);
    assertStringIncludes(unclear.lastLine, `Read TASK: found ${words.length === 0 ? "none" : '"tsk_1" alone'}, wanted`);
  }
  assertEquals((await watching.result()).code, 130);
  assertEquals((await bed.run(["watch", "scribe", task])).code, 130);
  assertEquals((await bed.run(["watch", "scribe", ids.task_id])).stdout.trim(), "7");

  const sending = bed.start(["send", "scribe", `printError("left alone"); for (;;) {}`]);
  await served.untilLogged("left alone");
  sending.child.kill("SIGINT");
  const left = await sending.result();
  assertEquals(left.code, 130);
  const [, ownId] = /^boll: (tsk_\w+) is working and goes on; `boll watch DOOR \1` follows it/.exec(left.stderr)!;
  assertEquals((await served.cancel(ownId!)).status.state, "TASK_STATE_CANCELED");

  assertEquals(await served.stop(), 0);
  const gone = await bed.run(["send", served.url, "1"]);
  assertEquals(gone.code, 4);
  const unnamed = await bed.run(["send", "scribe", "1"]);
  assertEquals(unnamed.code, 2);
  assertStringIncludes(unnamed.lastLine, "does not run");
});

forExecutable("send: what goes wrong is said with its way out; a token goes to its own door alone", async (bed) => {
  const served = await serve(bed);
  const asks = async (args: string[], env: Record<string, string> = {}) => {
    const { code, lastLine, stdout } = await bed.run(["send", ...args], { env });
    assertEquals(stdout, "");
    return [code, lastLine] as const;
  };
  const unknown = await asks([served.url, "1", "--token", "x"]);
  assertEquals(unknown[0], 5);
  assertEquals(await asks(["nobody", "1"]), [
    2,
    'boll: Find a door: found no service or session "nobody"; give its URL, or see `boll ps`',
  ]);
  assertMatch(unknown[1], /token/);
  assertEquals((await asks([served.url, "1"], { BOLL_TOKEN: "x" }))[0], 5);
  const seen: (string | null)[] = [];
  const stranger = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    seen.push(request.headers.get("authorization"));
    return new Response(null, { status: 307, headers: { location: served.url } });
  });
  const elsewhere = await asks([`http://127.0.0.1:${stranger.addr.port}/`, "1"]);
  assertEquals([elsewhere[0], seen], [1, [null]]);
  assertStringIncludes(elsewhere[1], "elsewhere");
  const proxied = await bed.run(["send", served.url, "1 + 1"], {
    env: { http_proxy: `http://127.0.0.1:${stranger.addr.port}`, HTTP_PROXY: `http://127.0.0.1:${stranger.addr.port}` },
  });
  assertEquals([proxied.code, proxied.stdout, seen.length], [0, "2\n", 1]);
  await stranger.shutdown();
  assertEquals(await served.stop(), 0);
  // Its port may be another's by now: its token is nobody's to send.
  const late = await bed.run(["token", served.sessionId]);
  assert(late.code !== 0 && !late.stdout.includes(served.token!));
});

forExecutable(
  "send --stream: a session that dies and is started again is come back to, and its task's end is told",
  async (bed) => {
    const served = await serve(bed, { flags: ["--name", "scribe"] });
    const sending = bed.start(["send", "scribe", `print("so far"); printError("at work"); for (;;) {}`, "--stream"]);
    await sending.stdout.waitFor("so far\n");
    const waiting = bed.start(["send", "scribe", `"after"`, "--stream"]);
    await served.untilListed(2);
    Deno.kill(served.sessionPid, "SIGKILL");
    const [lost, after] = await Promise.all([sending.result(), waiting.result()]);
    assertEquals([lost.code, lost.stdout], [1, "so far\n"]);
    assertStringIncludes(lost.stderr, "the connection was lost for a while");
    assertStringIncludes(lost.lastLine, "interrupted");
    assertEquals([after.code, after.stdout], [0, '"after"\n']);
    assertEquals(await served.stop(), 0);
  },
);
