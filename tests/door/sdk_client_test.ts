import { assert, assertEquals, assertRejects } from "@std/assert";
import { Role, type Task, TaskState } from "@a2a-js/sdk";
import { type Client, ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { HeldWork, OWNER, runDoor } from "./running_door.ts";

type Transport = "JSONRPC" | "HTTP+JSON";

/** The official client, as its users make it: from the card, with a token in every request. */
async function clientOf(url: string, transport: Transport, token = OWNER): Promise<Client> {
  const fetchImpl = (input: RequestInfo | URL, init?: RequestInit) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  const transports = transport === "JSONRPC"
    ? [new JsonRpcTransportFactory({ fetchImpl })]
    : [new RestTransportFactory({ fetchImpl })];
  return await new ClientFactory({ transports, preferredTransports: [transport] }).createFromUrl(url);
}

function sending(text: string, more: { taskId?: string; returnImmediately?: boolean } = {}) {
  return {
    tenant: "",
    message: {
      messageId: crypto.randomUUID(),
      contextId: "",
      taskId: more.taskId ?? "",
      role: Role.ROLE_USER,
      parts: [{ content: { $case: "text" as const, value: text }, metadata: undefined, filename: "", mediaType: "" }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: more.returnImmediately ?? false,
    },
    metadata: undefined,
  };
}

function answerOf({ artifacts }: Pick<Task, "artifacts">): string {
  return artifacts.flatMap(({ parts }) => parts).map(({ content }) => content?.$case === "text" ? content.value : "")
    .join("");
}

async function words(
  stream: AsyncIterable<Awaited<ReturnType<ReturnType<Client["sendMessageStream"]>["next"]>>["value"] & object>,
) {
  const said: string[] = [];
  for await (const { payload } of stream) {
    if (payload?.$case === "task") said.push(`task ${TaskState[payload.value.status!.state]}`);
    else if (payload?.$case === "statusUpdate") said.push(TaskState[payload.value.status!.state]);
    else if (payload?.$case === "artifactUpdate") said.push(`"${answerOf({ artifacts: [payload.value.artifact!] })}"`);
  }
  return said;
}

for (const transport of ["JSONRPC", "HTTP+JSON"] as const) {
  Deno.test(`the SDK's client by ${transport}: send, stream, resubscribe, get, list, cancel, input required`, async () => {
    const work = new HeldWork();
    await using running = await runDoor({ work });
    const client = await clientOf(running.url, transport);

    const sent = client.sendMessage(sending("hello"));
    const first = await work.next();
    first.end({ state: "completed", answer: "HELLO" });
    const task = await sent as Task;
    assertEquals([task.status!.state, answerOf(task)], [TaskState.TASK_STATE_COMPLETED, "HELLO"]);

    const streaming = words(client.sendMessageStream(sending("stream")));
    const second = await work.next();
    second.voice.output("piece by ");
    second.end({ state: "completed", answer: "piece by piece" });
    assertEquals(await streaming, [
      ...["task TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", '"piece by "', '"piece"', "TASK_STATE_COMPLETED"],
    ]);

    await client.sendMessage(sending("watch", { returnImmediately: true }));
    const third = await work.next();
    const watching = client.resubscribeTask({ tenant: "", id: third.task.id });
    const snapshot = (await watching.next()).value!.payload!;
    assert(snapshot.$case === "task" && snapshot.value.id === third.task.id);
    third.end({ state: "completed", answer: "watched" });
    assertEquals(await words(watching), ['"watched"', "TASK_STATE_COMPLETED"]);

    const got = await client.getTask({ tenant: "", id: third.task.id, historyLength: 0 });
    assertEquals([answerOf(got), got.history], ["watched", []]);
    const listed = await client.listTasks({
      tenant: "",
      contextId: "",
      status: TaskState.TASK_STATE_COMPLETED,
      pageSize: 2,
      pageToken: "",
      statusTimestampAfter: undefined,
    });
    assertEquals([listed.tasks.length, listed.totalSize], [2, 3]);

    await client.sendMessage(sending("cancel me", { returnImmediately: true }));
    const fourth = await work.next();
    const cancelling = client.cancelTask({ tenant: "", id: fourth.task.id, metadata: undefined });
    await new Promise<void>((resolve) => fourth.task.signal.addEventListener("abort", () => resolve()));
    fourth.end({ state: "canceled" });
    assertEquals((await cancelling).status!.state, TaskState.TASK_STATE_CANCELED);
    const refused = await assertRejects(
      () => client.cancelTask({ tenant: "", id: third.task.id, metadata: undefined }),
      Error,
    );
    assert(refused.name.endsWith("TaskNotCancelableError"), refused.name);

    const asking = client.sendMessage(sending("ask"));
    const fifth = await work.next();
    const answer = fifth.voice.ask("Which?", 60_000);
    const asked = await asking as Task;
    assertEquals(asked.status!.state, TaskState.TASK_STATE_INPUT_REQUIRED);
    const answering = client.sendMessage(sending("this one", { taskId: asked.id }));
    fifth.end({ state: "completed", answer: `took ${(await answer).text}` });
    assertEquals(answerOf(await answering as Task), "took this one");

    const missing = await assertRejects(() => client.getTask({ tenant: "", id: "tsk_none" }), Error);
    assert(missing.name.endsWith("TaskNotFoundError"), missing.name);
    const stranger = await clientOf(running.url, transport, "wrong");
    await assertRejects(() => stranger.sendMessage(sending("x")), Error);
  });
}
