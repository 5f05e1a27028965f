import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Task, TaskState } from "@a2a-js/sdk";
import { HeldWork, OWNER, runDoor } from "./running_door.ts";
import { answerOf, clientOf, sending, TRANSPORTS, words } from "./sdk_client.ts";

for (const transport of TRANSPORTS) {
  Deno.test(`the SDK's client by ${transport}: send, stream, resubscribe, get, list, cancel, input required`, async () => {
    const work = new HeldWork();
    await using running = await runDoor({ work });
    const client = await clientOf(running.url, transport, OWNER);

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
