import { assertEquals } from "@std/assert";
import { DoorClient, type TaskNews } from "../../src/door/client/mod.ts";
import { HeldWork, OWNER, runDoor } from "./running_door.ts";

Deno.test("DoorClient: an answer and files of any size come whole, from the stream and from the task", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work });
  using client = await DoorClient.open({ url: running.url, token: OWNER });
  const files = [10, 2 * 1024 * 1024, 5 * 1024 * 1024 + 1].map((bytes, at) => ({
    name: `file-${at}.bin`,
    mediaType: "application/octet-stream",
    bytes: new Uint8Array(bytes).fill(at + 1),
  }));
  const answer = `${"ü".repeat(600_000)}.`;
  const hearing = Array.fromAsync<TaskNews>(client.stream({ text: "go" }));
  const { task, voice, end } = await work.next();
  for (const file of files) voice.artifact(file);
  end({ state: "completed", answer });
  const news = await hearing;
  const heard = news.flatMap((one) => one.kind === "file" ? [one.file] : []);
  const wanted = files.map(({ name, bytes }) => [name, bytes.length]);
  assertEquals(heard.map(({ name, bytes }) => [name, bytes.length]), wanted);
  for (const [at, { bytes }] of heard.entries()) assertEquals(bytes.every((byte) => byte === at + 1), true);
  assertEquals(news.map((one) => one.kind === "output" ? one.text : "").join(""), answer);
  const whole = await client.get(task.id);
  assertEquals([whole.answer, whole.files.map(({ name, bytes }) => [name, bytes.length])], [answer, wanted]);
});
