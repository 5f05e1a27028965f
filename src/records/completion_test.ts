import { assert, assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { COMPLETION, largeCompletion } from "./completion_fixture.ts";
import { type Completion, MAX_COMPLETION_BYTES, readCompletion, writeCompletion } from "./mod.ts";

const MAX_DETAIL_BYTES = 2_000;

function withRecord(run: (places: { completion: string; folder: string }) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    run({ completion: `${folder}/completion.json`, folder });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("completion: pretty JSON with a final newline in one order, and the same value when read", () =>
  withRecord((places) => {
    const whole: Completion = {
      ...COMPLETION,
      status: "crashed",
      result_path: "/records/out/result.txt",
      detail: "exited with code 3",
      reported_by: "launcher",
      delivery_error: "nothing listens at 127.0.0.1:1",
    };
    writeCompletion(places, whole);
    assertEquals(
      Deno.readTextFileSync(places.completion),
      `{
  "delegation_id": "dlg_01890000000070008000000000000001",
  "capsule_name": "worker",
  "capsule_version": "0.1.0",
  "session_id": "ses_01890000000070008000000000000002",
  "status": "crashed",
  "result_path": "/records/out/result.txt",
  "workdir": "/work/w",
  "duration_ms": 42,
  "detail": "exited with code 3",
  "reported_by": "launcher",
  "delivered": false,
  "delivery_error": "nothing listens at 127.0.0.1:1"
}
`,
    );
    assertEquals(readCompletion(places, COMPLETION), whole);
    assertEquals(Deno.lstatSync(places.completion).mode! & 0o777, 0o600);
  }));

Deno.test("completion: absent detail, delivery_error and result_path are left out, not null", () =>
  withRecord((places) => {
    writeCompletion(places, COMPLETION);
    const text = Deno.readTextFileSync(places.completion);
    for (const name of ["detail", "delivery_error", "result_path", "null"]) assert(!text.includes(name), name);
    assertEquals(readCompletion(places, COMPLETION), COMPLETION);
    assertEquals(Object.keys(readCompletion(places, COMPLETION)!), Object.keys(COMPLETION));
    writeCompletion(places, { ...COMPLETION, detail: "of no crash", delivered: true, delivery_error: "of no failure" });
    assertEquals(readCompletion(places, COMPLETION), { ...COMPLETION, delivered: true });
  }));

Deno.test("completion: detail is cut at 2000 bytes between two characters and marked; at 2000 it is whole", () =>
  withRecord((places) => {
    const detailOf = (detail: string) => {
      writeCompletion(places, { ...COMPLETION, status: "crashed", reported_by: "launcher", detail });
      return readCompletion(places, COMPLETION)!.detail!;
    };
    const bytes = (text: string) => new TextEncoder().encode(text).length;
    assertEquals(detailOf("x".repeat(MAX_DETAIL_BYTES)), "x".repeat(MAX_DETAIL_BYTES));
    for (const long of ["x".repeat(MAX_DETAIL_BYTES + 1), `x${"é".repeat(MAX_DETAIL_BYTES)}`, "😀".repeat(1_000)]) {
      const cut = detailOf(long);
      assert(bytes(cut) <= MAX_DETAIL_BYTES && bytes(cut) > MAX_DETAIL_BYTES - 4, `${bytes(cut)}`);
      assert(cut.endsWith(" […]") && long.startsWith(cut.slice(0, -" […]".length)));
      assert(!cut.includes("\ufffd"));
    }
  }));

Deno.test("readCompletion: a link, a pipe, a folder, junk, a huge file, and another's record read as no record", () =>
  withRecord((places) => {
    const { completion: path, folder } = places;
    const isRecord = () => readCompletion(places, COMPLETION) !== undefined;
    const plant = (text: string) => Deno.writeTextFileSync(path, text);
    assert(!isRecord());
    writeCompletion({ completion: `${folder}/elsewhere` }, COMPLETION);
    Deno.symlinkSync(`${folder}/elsewhere`, path);
    assert(!isRecord());
    Deno.removeSync(path);
    assert(new Deno.Command("mkfifo", { args: [path] }).outputSync().success);
    assert(!isRecord());
    Deno.removeSync(path);
    Deno.mkdirSync(path);
    assert(!isRecord());
    Deno.removeSync(path);
    const good = JSON.stringify(COMPLETION);
    for (const junk of ["", "null", "[]", "{}", "7", "nonsense", good.slice(0, -1), `${good} x`]) {
      plant(junk);
      assert(!isRecord(), junk);
    }
    plant(good + " ".repeat(MAX_COMPLETION_BYTES - good.length));
    assert(isRecord());
    plant(good + " ".repeat(MAX_COMPLETION_BYTES - good.length + 1));
    assert(!isRecord());
    plant(good);
    assertEquals(readCompletion(places, { ...COMPLETION, delegation_id: "dlg_2" }), undefined);
    assertEquals(readCompletion(places, { ...COMPLETION, session_id: "ses_3" }), undefined);
    assert(isRecord());
  }));

Deno.test("readCompletion: a field that is wrong, or a child that says what only its launcher may", () =>
  withRecord((places) => {
    const reads = (fields: Record<string, unknown>) => {
      Deno.writeTextFileSync(places.completion, JSON.stringify({ ...COMPLETION, ...fields }));
      return readCompletion(places, COMPLETION) !== undefined;
    };
    assert(reads({ unknown: 1 }) && reads({ status: "crashed", reported_by: "launcher" }));
    for (
      const fields of [
        { status: "crashed" },
        { status: "terminated" },
        { status: "unknown" },
        { reported_by: "guest" },
        { workdir: "relative" },
        { workdir: "/a\0" },
        { result_path: "../x" },
        { result_path: null },
        { detail: null },
        { duration_ms: -1 },
        { duration_ms: 1.5 },
        { duration_ms: "42" },
        { delivered: "yes" },
        { capsule_name: 1 },
        { delivery_error: 3 },
      ]
    ) {
      assert(!reads(fields), JSON.stringify(fields));
    }
  }));

Deno.test("writeCompletion: a link planted at its place is replaced, and what it names stays; a lost folder is an error", () =>
  withRecord((places) => {
    Deno.writeTextFileSync(`${places.folder}/target`, "kept");
    Deno.symlinkSync(`${places.folder}/target`, places.completion);
    writeCompletion(places, COMPLETION);
    assertEquals(Deno.readTextFileSync(`${places.folder}/target`), "kept");
    assertEquals(readCompletion(places, COMPLETION), COMPLETION);
    const lost = { completion: `${places.folder}/gone/completion.json` };
    assertEquals(assertThrows(() => writeCompletion(lost, COMPLETION), CapsuleError).code, "home.unwritable");
  }));

Deno.test("completion: a reader racing 400 rewrites of 64 KiB sees whole records only, and nothing is left behind", async () => {
  const folder = Deno.makeTempDirSync();
  const places = { completion: `${folder}/completion.json` };
  const writer = new Worker(import.meta.resolve("./completion_fixture.ts"), { type: "module" });
  try {
    writeCompletion(places, largeCompletion(0));
    let isDone = false;
    const done = new Promise<void>((resolve, reject) => {
      writer.onmessage = () => resolve();
      writer.onerror = reject;
    }).finally(() => isDone = true);
    writer.postMessage(places.completion);
    const seen = new Set<number>();
    while (!isDone) {
      const found = readCompletion(places, COMPLETION);
      assert(found !== undefined);
      assertEquals(found, largeCompletion(found.duration_ms));
      seen.add(found.duration_ms);
      await new Promise((resolve) => setTimeout(resolve));
    }
    await done;
    assert(seen.size > 1, `${seen.size} different ones seen`);
    assertEquals(readCompletion(places, COMPLETION)?.duration_ms, 400);
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["completion.json"]);
  } finally {
    writer.terminate();
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("completion: nothing is written through a link in place of the folder or the one above it", () => {
  const base = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    for (const name of ["real/records", "elsewhere/records"]) Deno.mkdirSync(`${base}/${name}`, { recursive: true });
    Deno.symlinkSync(`${base}/elsewhere`, `${base}/linked`);
    Deno.mkdirSync(`${base}/own`);
    Deno.symlinkSync(`${base}/elsewhere/records`, `${base}/own/records`);
    writeCompletion({ completion: `${base}/real/records/completion.json` }, COMPLETION);
    for (const root of ["linked", "own"]) {
      const write = () => writeCompletion({ completion: `${base}/${root}/records/completion.json` }, COMPLETION);
      assertEquals(assertThrows(write, CapsuleError).code, "home.unwritable");
    }
    assertEquals([...Deno.readDirSync(`${base}/elsewhere/records`)], []);
  } finally {
    Deno.removeSync(base, { recursive: true });
  }
});
