/** The executable's door as others meet it: with the official client, and with bytes that no client sends. */
import { assertEquals, assertRejects } from "@std/assert";
import { type Task, TaskState } from "@a2a-js/sdk";
import { answerOf, clientOf, sending, TRANSPORTS, words } from "../door/sdk_client.ts";
import { ask, request, type RequestOptions, WireConnection } from "../door/wire_client.ts";
import { forExecutable, REPOSITORY } from "../harness.ts";
import { assertNothingLeft } from "./leftovers.ts";
import { serve } from "./served.ts";

for (const transport of TRANSPORTS) {
  forExecutable(
    `serve: the SDK's client by ${transport}: send, stream, resubscribe, get, list, cancel; an agent asks it back`,
    async (bed) => {
      const served = await serve(bed);
      const client = await clientOf(served.url, transport, served.token!);
      const task = await client.sendMessage(sending("1 + 1")) as Task;
      assertEquals([task.status!.state, answerOf(task)], [TaskState.TASK_STATE_COMPLETED, "2\n"]);
      const streamed = await words(client.sendMessageStream(sending("2 + 2")));
      assertEquals([streamed[0], streamed.at(-1)], ["task TASK_STATE_SUBMITTED", "TASK_STATE_COMPLETED"]);
      assertEquals(streamed.filter((word) => word.startsWith('"')).join(""), '"4\n"""');

      const running = await client.sendMessage(
        sending(`printError("at work"); for (;;) {}`, { returnImmediately: true }),
      ) as Task;
      const watching = client.resubscribeTask({ tenant: "", id: running.id });
      await watching.next();
      await served.untilLogged("at work");
      const canceled = await client.cancelTask({ tenant: "", id: running.id, metadata: undefined });
      assertEquals(canceled.status!.state, TaskState.TASK_STATE_CANCELED);
      assertEquals((await words(watching)).at(-1), "TASK_STATE_CANCELED");
      const got = await client.getTask({ tenant: "", id: task.id, historyLength: 0 });
      assertEquals([answerOf(got), got.history], ["2\n", []]);
      const listed = await client.listTasks({
        tenant: "",
        contextId: "",
        status: TaskState.TASK_STATE_COMPLETED,
        pageSize: 1,
        pageToken: "",
        statusTimestampAfter: undefined,
      });
      assertEquals([listed.tasks.length, listed.totalSize], [1, 2]);
      const stranger = await clientOf(served.url, transport, "wrong");
      await assertRejects(() => stranger.sendMessage(sending("1")), Error);
      assertEquals(await served.stop(), 0);

      const agent = await serve(bed, { capsule: `${REPOSITORY}/capsules/assistant` });
      const talker = await clientOf(agent.url, transport, agent.token!);
      const asked = await talker.sendMessage(sending("hello")) as Task;
      assertEquals(asked.status!.state, TaskState.TASK_STATE_INPUT_REQUIRED);
      const answered = await talker.sendMessage(sending("Ada", { taskId: asked.id })) as Task;
      assertEquals(
        [answered.id, answerOf(answered)],
        [asked.id, "Good day. I know your name now, and how people are greeted here."],
      );
      assertEquals(await agent.stop(), 0);
      assertNothingLeft(bed);
    },
  );
}

forExecutable(
  "serve: what no client sends is refused on the wire: heads, bodies, chunks, places and pages of elsewhere; it goes on",
  async (bed) => {
    const served = await serve(bed);
    const port = Number(new URL(served.url).port);
    const known = { "authorization": `Bearer ${served.token}`, "a2a-version": "1.0" };
    const json = { ...known, "content-type": "application/json" };
    const status = async (options: RequestOptions) => (await ask(port, options)).status;
    const said = async (text: string) => {
      using connection = await WireConnection.open(port);
      await connection.send(text);
      return (await connection.reply()).status;
    };
    const health = (more = "") => `GET /healthz HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${more}\r\n`;
    assertEquals(await said(health()), 200);
    assertEquals(await said(health(`a: ${"x".repeat(1_000_000)}\r\n`)), 431);
    assertEquals(await said(health(Array.from({ length: 10_000 }, (_, at) => `a${at}: b\r\n`).join(""))), 431);
    assertEquals(await said(health("content-length: 1\r\ntransfer-encoding: chunked\r\n")), 400);
    const most = 8 * 1024 * 1024;
    assertEquals(await status({ headers: { ...json, "content-length": `${most + 1}` } }), 413);
    const chunked = request(port, { headers: { ...json, "transfer-encoding": "chunked" } });
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    assertEquals(await said(`${chunked}${chunk.repeat(128)}1\r\nx\r\n`), 413);
    assertEquals(await said(`${chunked}zz\r\nabc\r\n`), 400);
    // Without the token nothing of a body is waited for.
    assertEquals(await status({ headers: { "content-type": "application/json", "content-length": "100" } }), 401);
    assertEquals(await status({ headers: { ...known, host: `evil.example:${port}` }, body: "{}" }), 421);
    assertEquals(await status({ headers: { ...known, origin: "https://evil.example" }, body: "{}" }), 403);
    assertEquals(await status({ method: "GET", path: "/metrics" }), 401);
    const metrics = await ask(port, { method: "GET", path: "/metrics", headers: known });
    assertEquals([metrics.status, metrics.body.includes("boll_door_requests_total")], [200, true]);
    using pipelined = await WireConnection.open(port);
    await pipelined.send(health() + request(port, { method: "GET", path: "/v1/tasks/tsk_none", headers: known }));
    await pipelined.finish();
    assertEquals([(await pipelined.reply()).status, (await pipelined.reply()).status], [200, 404]);
    assertEquals((await served.call("ListTasks", {}))["result"], {
      tasks: [],
      nextPageToken: "",
      pageSize: 50,
      totalSize: 0,
    });
    assertEquals((await served.send("1 + 1")).status.state, "TASK_STATE_COMPLETED");
    assertEquals(await served.stop(), 0);
    assertNothingLeft(bed);
  },
);
