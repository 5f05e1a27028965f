/** The executable's door as the official client meets it: before a command, and before an agent. */
import { assertEquals, assertRejects } from "@std/assert";
import { type Task, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { answerOf, clientOf, sending, TRANSPORTS, words } from "../door/sdk_client.ts";
import { type Bed, forExecutable } from "../harness.ts";
import { assertNothingLeft } from "./leftovers.ts";
import { serve } from "./served.ts";

/** An agent that answers, asks, and thinks for long. */
function askingAgent(bed: Bed): string {
  const turns = [
    { when_contains: "hello", text: "Good day." },
    { when_contains: "who", tool_calls: [{ name: "request-input", arguments: { question: "And you?" } }] },
    { when_contains: "Ada", text: "An agent, Ada." },
    { when_contains: "think", text: "", delay_ms: 600_000 },
  ];
  return bed.folder("agent", {
    "capsule.jsonc": JSON.stringify({
      name: "asking",
      version: "1.0.0",
      inference: { dialect: "scripted", uri: "play.json" },
    }),
    "play.json": JSON.stringify({ turns }),
  });
}

/** One that is running is watched and then canceled: whoever watches hears of it. */
async function watchAndCancel(client: Client, text: string, atWork: (id: string) => Promise<unknown>): Promise<void> {
  const { id } = await client.sendMessage(sending(text, { returnImmediately: true })) as Task;
  const watching = client.resubscribeTask({ tenant: "", id });
  await watching.next();
  await atWork(id);
  const canceled = await client.cancelTask({ tenant: "", id, metadata: undefined });
  assertEquals(canceled.status!.state, TaskState.TASK_STATE_CANCELED);
  assertEquals((await words(watching)).at(-1), "TASK_STATE_CANCELED");
}

/** The pieces of an answer, put together. */
function answerIn(said: readonly string[]): string {
  return said.filter((word) => word.startsWith('"')).map((word) => word.slice(1, -1)).join("");
}

async function assertKept(
  client: Client,
  { id, answer, completed }: { id: string; answer: string; completed: number },
) {
  const got = await client.getTask({ tenant: "", id, historyLength: 0 });
  assertEquals([answerOf(got), got.history], [answer, []]);
  const listed = await client.listTasks({
    tenant: "",
    contextId: "",
    status: TaskState.TASK_STATE_COMPLETED,
    pageSize: 1,
    pageToken: "",
    statusTimestampAfter: undefined,
  });
  assertEquals([listed.tasks.length, listed.totalSize], [1, completed]);
}

for (const transport of TRANSPORTS) {
  forExecutable(
    `serve: the SDK's client by ${transport} sends, streams, resubscribes, cancels, gets and lists; without the token nothing`,
    async (bed) => {
      const served = await serve(bed);
      const client = await clientOf(served.url, transport, served.token!);
      const task = await client.sendMessage(sending("1 + 1")) as Task;
      assertEquals([task.status!.state, answerOf(task)], [TaskState.TASK_STATE_COMPLETED, "2\n"]);
      const streamed = await words(client.sendMessageStream(sending("2 + 2")));
      assertEquals([streamed[0], streamed.at(-1)], ["task TASK_STATE_SUBMITTED", "TASK_STATE_COMPLETED"]);
      assertEquals(answerIn(streamed), "4\n");
      await watchAndCancel(client, `printError("at work"); for (;;) {}`, () => served.untilLogged("at work"));
      await assertKept(client, { id: task.id, answer: "2\n", completed: 2 });
      const stranger = await clientOf(served.url, transport, "wrong");
      await assertRejects(() => stranger.sendMessage(sending("1")), Error);
      assertEquals(await served.stop(), 0);
      assertNothingLeft(bed);
    },
  );

  forExecutable(
    `serve AGENT: the SDK's client by ${transport} sends, is asked, answers, streams, resubscribes, cancels, gets and lists`,
    async (bed) => {
      const served = await serve(bed, { capsule: askingAgent(bed) });
      const client = await clientOf(served.url, transport, served.token!);
      assertEquals(answerOf(await client.sendMessage(sending("hello")) as Task), "Good day.");

      const asking = await words(client.sendMessageStream(sending("who are you?")));
      assertEquals([asking[0], asking.at(-1)], ["task TASK_STATE_SUBMITTED", "TASK_STATE_INPUT_REQUIRED"]);
      const { tasks: [asked] } = await client.listTasks({
        tenant: "",
        contextId: "",
        status: TaskState.TASK_STATE_INPUT_REQUIRED,
        pageToken: "",
        statusTimestampAfter: undefined,
      });
      const [question] = asked!.status!.message!.parts;
      assertEquals(question!.content, { $case: "text", value: "And you?" });
      const answering = await words(client.sendMessageStream(sending("Ada", { taskId: asked!.id })));
      assertEquals([answerIn(answering), answering.at(-1)], ["An agent, Ada.", "TASK_STATE_COMPLETED"]);

      await watchAndCancel(client, "think", (id) => served.until(id, "TASK_STATE_WORKING"));
      await assertKept(client, { id: asked!.id, answer: "An agent, Ada.", completed: 2 });
      assertEquals(await served.stop(), 0);
      assertNothingLeft(bed);
    },
  );
}
