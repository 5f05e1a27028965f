import { assert, assertEquals } from "@std/assert";
import type { HostCall } from "../protocol/mod.ts";
import { HostCalls } from "./host_calls.ts";

const REQUEST = { capsule: "worker", task: "t", mounts: [] };

function idOf(digit: number): string {
  return `dlg_${String(digit).repeat(32)}`;
}

Deno.test("host calls: each answer finds its call, in any order; one that nobody waits for is dropped", async () => {
  const sent: HostCall[] = [];
  const calls = new HostCalls((call) => sent.push(call));
  const first = calls.resolve("a.example");
  const second = calls.resolve("b.example");
  assertEquals<unknown>(sent, [
    { id: 0, name: "resolve", args: { name: "a.example" } },
    { id: 1, name: "resolve", args: { name: "b.example" } },
  ]);
  calls.settle({ id: 9, error: "denied" });
  calls.settle({ id: 1, error: "denied" });
  calls.settle({ id: 0, value: { addresses: ["192.0.2.1"] } });
  calls.settle({ id: 0, error: "closed" });
  assertEquals(await second, { ok: false, error: "denied" });
  assertEquals(await first, { ok: true, addresses: ["192.0.2.1"] });
});

Deno.test("host calls: each end finds its delegation, also one that comes right behind the start; others are dropped", async () => {
  const sent: HostCall[] = [];
  const calls = new HostCalls((call) => sent.push(call));
  const starts = [calls.delegate(REQUEST), calls.delegate({ ...REQUEST, version: "0.1.0", deadlineMs: 5 })];
  assertEquals<unknown>(sent, [
    { id: 0, name: "delegate", args: REQUEST },
    { id: 1, name: "delegate", args: { ...REQUEST, version: "0.1.0", deadline_ms: 5 } },
  ]);
  calls.end({ delegation_id: idOf(1), text: "before there was a start" });
  calls.settle({ id: 0, value: { delegation_id: idOf(1) } });
  calls.end({ delegation_id: idOf(1), text: "first" });
  calls.settle({ id: 1, value: { delegation_id: idOf(2) } });
  calls.settle({ id: 7, value: { delegation_id: idOf(3) } });
  calls.end({ delegation_id: idOf(3), text: "of nobody" });
  calls.end({ delegation_id: idOf(2), text: "second" });
  calls.end({ delegation_id: idOf(2), text: "twice" });
  const ends = await Promise.all(starts.map(async (start) => {
    const started = await start;
    assert("end" in started);
    return [started.id, await started.end];
  }));
  assertEquals(ends, [[idOf(1), "first"], [idOf(2), "second"]]);
});

Deno.test("host calls: a refusal is the parent's word; what the parent would not read is refused without asking it", async () => {
  const sent: HostCall[] = [];
  const calls = new HostCalls((call) => sent.push(call));
  const refused = calls.delegate(REQUEST);
  calls.settle({ id: 0, error: { kind: "failed", message: "no process" } });
  assertEquals(await refused, { kind: "failed", message: "no process" });
  const strange = calls.delegate(REQUEST);
  calls.settle({ id: 1, value: { addresses: [] } });
  assertEquals(await strange, { kind: "failed", message: "Delegate: the runtime gave no answer" });
  assertEquals(sent.length, 2);
  const bad = [
    [{ capsule: "" }, "capsule is not a name of 1 to 256 characters"],
    [{ version: "" }, "version is not a text of 1 to 128 characters"],
    [{ task: "x".repeat(262_145) }, "task is not a text of at most 262144 characters"],
    [{ mounts: Array(65).fill(["/a", "/b"]) }, "mounts is not a list of at most 64"],
    [{ mounts: [["/a", ""]] as [string, string][] }, "mounts is not a list of paths of 1 to 4096 characters"],
    [{ deadlineMs: 0 }, "deadline_ms is not an integer from 1 to 2147483647"],
    [{ deadlineMs: Number(2n ** 64n - 1n) }, "deadline_ms is not an integer from 1 to 2147483647"],
  ] as const;
  for (const [part, message] of bad) {
    assertEquals(await calls.delegate({ ...REQUEST, ...part }), { kind: "refused", message: `Delegate: ${message}` });
  }
  assertEquals(sent.length, 2);
});
