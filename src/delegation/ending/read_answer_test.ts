import { assert, assertEquals } from "@std/assert";
import { AnswerBed, TASK } from "./answer_fixture.ts";
import { MAX_OUTPUT_BYTES, resultBlock } from "./read_answer.ts";

const SENTINEL = "THE-END";
const bytesOf = (text: string) => new TextEncoder().encode(text).length;

function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch { /* whoever made it took it along */ }
}

Deno.test("readAnswer: whole at 65 535 and 65 536 bytes, and nothing is written", async () => {
  using bed = new AnswerBed();
  for (const length of [1, MAX_OUTPUT_BYTES - 1, MAX_OUTPUT_BYTES]) {
    const text = "x".repeat(length - 1) + "\n";
    bed.write("records/out/result.txt", text);
    assertEquals(await bed.read(), { text, refused: [] });
  }
  assertEquals(bed.parentFiles(), []);
});

Deno.test("readAnswer: cut at 65 537, marked, and kept whole; the sentinel at the tail is only in the kept one", async () => {
  using bed = new AnswerBed();
  const text = "x".repeat(MAX_OUTPUT_BYTES + 1 - SENTINEL.length) + SENTINEL;
  bed.write("records/out/result.txt", text);
  assertEquals(
    (await bed.read()).text,
    `${text.slice(0, -1)}\n[…]
[cut at 65536 of 65537 bytes; the whole answer is delegations/${bed.id}.txt in the runtime directory]`,
  );
  const long = "y".repeat(MAX_OUTPUT_BYTES) + "z".repeat(200_000) + SENTINEL;
  bed.write("work/out/result.txt", long);
  Deno.removeSync(`${bed.records}/out/result.txt`);
  Deno.removeSync(bed.kept);
  const cut = (await bed.read()).text!;
  assert(
    !cut.includes(SENTINEL) && cut.startsWith(`${"y".repeat(MAX_OUTPUT_BYTES)}\n[…]\n[cut at 65536 of 265543 bytes; `),
  );
  assertEquals(Deno.readTextFileSync(bed.kept), long);
  assertEquals(bed.parentFiles(), [`runtime/delegations/${bed.id}.txt`]);
  assertEquals(Deno.lstatSync(`${bed.runtime}/delegations`).mode! & 0o777, 0o700);
  assertEquals(Deno.lstatSync(bed.kept).mode! & 0o777, 0o600);
});

Deno.test("readAnswer: the cut falls before a character that does not fit, of two, three or four bytes", async () => {
  for (const character of ["é", "漢", "😀"]) {
    for (let inside = 1; inside < bytesOf(character); inside++) {
      using bed = new AnswerBed();
      const whole = "x".repeat(MAX_OUTPUT_BYTES - inside);
      bed.write("records/out/result.txt", whole + character.repeat(3));
      const { text } = await bed.read();
      assertEquals(text!.slice(0, text!.indexOf("[cut")), `${whole}\n[…]\n`);
      const total = whole.length + 3 * bytesOf(character);
      assert(text!.includes(`[cut at ${whole.length} of ${total} bytes; the whole answer is `), text!.slice(-120));
    }
  }
});

Deno.test("readAnswer: the order is records before work, a task's file before the session's, which is only asked for by an id", async () => {
  using bed = new AnswerBed();
  const places = [
    `records/out/result_${TASK}.txt`,
    "records/out/result.txt",
    `work/out/result_${TASK}.txt`,
    "work/out/result.txt",
  ];
  for (const place of places) bed.write(place, place);
  assertEquals((await bed.read()).text, "records/out/result.txt");
  assertEquals((await bed.read({ taskId: "tsk_1" })).text, "records/out/result.txt");
  bed.write("records/out/result_x/../../secret.txt", "secret");
  assertEquals((await bed.read({ taskId: "x/../../secret" })).text, "records/out/result.txt");
  for (const place of places) {
    assertEquals((await bed.read({ taskId: TASK })).text, place);
    Deno.removeSync(`${bed.root}/child/${place}`);
  }
  assertEquals(await bed.read({ taskId: TASK }), { refused: [] });
});

Deno.test("readAnswer: missing, empty and non-UTF-8 results are three things", async () => {
  using bed = new AnswerBed();
  assertEquals(resultBlock(await bed.read()), "result: none (the child wrote no result file)");
  bed.write("work/out/result.txt", "");
  assertEquals(resultBlock(await bed.read()), "result: (the child's result file is empty)");
  bed.write("work/out/result.txt", new Uint8Array([0xff, 0x61, 0xc3]));
  assertEquals(resultBlock(await bed.read()), "result:\n\ufffda\ufffd");
  bed.write("work/out/result.txt", "\ufeffbyte order mark\n");
  assertEquals(resultBlock(await bed.read()), "result:\n\ufeffbyte order mark\n");
  bed.write("work/out/result.txt", new Uint8Array(MAX_OUTPUT_BYTES + 10).fill(0x80));
  const { text } = await bed.read();
  assert(text!.startsWith("\ufffd".repeat(MAX_OUTPUT_BYTES) + "\n[…]\n[cut at 65536 of 65546 bytes; "));
  Deno.removeSync(bed.work, { recursive: true });
  assertEquals(await bed.read(), { refused: [] });
});

Deno.test("readAnswer: a link is refused, its target never read, remembered, and the next place tried", async () => {
  using bed = new AnswerBed();
  const secret = bed.write("secret.txt", "secret");
  bed.write("work/out/result.txt", "mine");
  const linked = `${bed.records}/out/result_${TASK}.txt`;
  bed.link(secret, linked);
  assertEquals(await bed.read({ taskId: TASK }), { text: "mine", refused: [linked] });
  bed.write("records/out/result.txt", "recorded");
  assertEquals(await bed.read({ taskId: TASK }), { text: "recorded", refused: [linked] });
  assertEquals(await bed.read(), { text: "recorded", refused: [] });
});

Deno.test("readAnswer: a link for a folder or a root closes all behind it, and is named once", async () => {
  using bed = new AnswerBed();
  bed.write("elsewhere/out/result.txt", "secret");
  bed.write(`elsewhere/out/result_${TASK}.txt`, "secret");
  bed.link(`${bed.root}/child/elsewhere/out`, `${bed.records}/out`);
  bed.write("work/out/result.txt", "mine");
  assertEquals(await bed.read({ taskId: TASK }), { text: "mine", refused: [`${bed.records}/out`] });
  Deno.removeSync(bed.work, { recursive: true });
  bed.link(`${bed.root}/child/elsewhere`, bed.work);
  assertEquals(await bed.read({ taskId: TASK }), { refused: [`${bed.records}/out`, bed.work] });
  assertEquals(bed.parentFiles(), []);
});

Deno.test("readAnswer: a pipe, a folder, a device or a socket is passed over and never opened", async () => {
  using bed = new AnswerBed();
  const path = `${bed.records}/out/result.txt`;
  Deno.mkdirSync(path, { recursive: true });
  bed.write("work/out/result.txt", "mine");
  assertEquals(await bed.read(), { text: "mine", refused: [] });
  Deno.removeSync(path);
  assert(new Deno.Command("mkfifo", { args: [path] }).outputSync().success);
  assertEquals(await bed.read(), { text: "mine", refused: [] });
  Deno.removeSync(path);
  {
    using _listener = Deno.listen({ transport: "unix", path });
    assert(Deno.lstatSync(path).isSocket);
    assertEquals(await bed.read(), { text: "mine", refused: [] });
  }
  removeQuietly(path);
  if (!new Deno.Command("mknod", { args: [path, "c", "1", "5"], stderr: "null" }).outputSync().success) return;
  assertEquals(await bed.read(), { text: "mine", refused: [] });
});

Deno.test("readAnswer: a result of 1 GiB is cut in flat memory and not kept, said so", async () => {
  using bed = new AnswerBed();
  bed.writeSparse("work/out/result.txt", 1024 ** 3);
  const before = Deno.memoryUsage().rss;
  const { text } = await bed.read();
  const grown = Deno.memoryUsage().rss - before;
  assert(text!.endsWith("\0\n[…]\n[cut at 65536 of 1073741824 bytes; not kept: too large]"));
  assert(grown < 32 * 1024 ** 2, `${grown} bytes more`);
  assertEquals(bed.parentFiles(), []);
});
