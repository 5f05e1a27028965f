import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type Delegate, delegationImports, type DelegationRequest, type HostPorts } from "./delegation.ts";
import type { Pollable } from "./pollable.ts";

interface Delegation {
  id(): string;
  subscribe(): Pollable;
  outcome(): string | undefined;
}

interface Host {
  readonly Delegation: new (...args: unknown[]) => Delegation;
  delegate(request: unknown): Promise<Delegation>;
}

const REQUEST = { capsule: "worker", version: undefined, task: "t", mounts: [], deadlineMs: undefined };

function hostOf(start: Delegate): Host {
  return delegationImports(start)["boll:capsule/host"] as unknown as Host;
}

Deno.test("delegate: a request goes out as it is, without what is not said", async () => {
  const seen: DelegationRequest[] = [];
  const host = hostOf((request) => {
    seen.push(request);
    return Promise.resolve({ id: "dlg_1", end: Promise.resolve("") });
  });
  await host.delegate(REQUEST);
  const mounts = [{ child: "/data", parent: "/docs", more: 1 }];
  await host.delegate({ ...REQUEST, version: "1.0.0", mounts, deadlineMs: 9n });
  assertEquals(seen, [
    { capsule: "worker", task: "t", mounts: [] },
    { capsule: "worker", version: "1.0.0", task: "t", mounts: [["/data", "/docs"]], deadlineMs: 9 },
  ]);
});

Deno.test("delegate: each pollable is ready once the outcome is there, whenever it was asked for", async () => {
  const end = Promise.withResolvers<string>();
  const child = await hostOf(() => Promise.resolve({ id: "dlg_1", end: end.promise })).delegate(REQUEST);
  const early = child.subscribe();
  const waiting = [early.block(), early.block()];
  assertEquals([child.id(), child.outcome(), early.ready()], ["dlg_1", undefined, false]);
  end.resolve("");
  await Promise.all(waiting);
  assertEquals([child.outcome(), early.ready(), child.subscribe().ready()], ["", true, true]);
  await child.subscribe().block();
});

Deno.test("delegate: a refusal is thrown as the WIT value it is", async () => {
  for (const kind of ["refused", "failed"] as const) {
    const host = hostOf(() => Promise.resolve({ kind, message: "why" }));
    const thrown = await host.delegate(REQUEST).then(() => undefined, (error) => error);
    assertEquals(thrown, { tag: kind, val: "why" });
  }
});

Deno.test("delegate: a component that declares other types is trapped before anybody is asked", async () => {
  const host = hostOf(() => assert(false, "asked") as never);
  const strange: readonly unknown[] = [
    undefined,
    "worker",
    { ...REQUEST, capsule: 7 },
    { ...REQUEST, version: null },
    { ...REQUEST, task: new Uint8Array(1) },
    { ...REQUEST, mounts: "/data" },
    { ...REQUEST, mounts: [["/data", "/docs"]] },
    { ...REQUEST, mounts: [undefined] },
    { ...REQUEST, deadlineMs: 7 },
  ];
  for (const request of strange) await assertRejects(() => host.delegate(request), TypeError);
  assertThrows(() => new host.Delegation({ id: "dlg_1", end: Promise.resolve("") }), TypeError);
  assertThrows(() => new host.Delegation(Symbol("hosted"), { id: "dlg_1" }), TypeError);
});

Deno.test("log, emit: what a guest says is passed on cut, so often and no more; another level is a trap", () => {
  const heard: string[] = [];
  const host = delegationImports(() => assert(false, "asked") as never, {
    log: (level, text) => heard.push(`${level} ${text}`),
    emit: (text) => heard.push(text),
  })["boll:capsule/host"] as unknown as { log(level: unknown, text: unknown): void; emit(text: unknown): void };
  host.log("warn", "a\u001b");
  host.emit("x".repeat(9_000));
  assertEquals([heard[0], heard[1]?.length], ["warn a\u001b", 8_192]);
  for (const level of ["fatal", "", undefined, 1, "toString"]) assertThrows(() => host.log(level, "x"), TypeError);
  for (const text of [undefined, 7, null, []]) assertThrows(() => host.emit(text), TypeError);
  for (let at = 0; at < 2_000; at++) host.emit("flood");
  assertEquals(heard.length, 1_000);
});

Deno.test("requestInput: the answer comes back; a refusal, and nobody to ask, are thrown as the WIT value", async () => {
  type Asking = { requestInput(question: unknown): Promise<string> };
  const hostWith = (ports: HostPorts) =>
    delegationImports(() => assert(false, "asked") as never, ports)["boll:capsule/host"] as unknown as Asking;
  const answering = hostWith({ requestInput: (question) => Promise.resolve({ text: `${question}!` }) });
  assertEquals(await answering.requestInput("which"), "which!");
  const refusing = hostWith({ requestInput: () => Promise.resolve({ kind: "refused", message: "no" }) });
  const thrownBy = (host: Asking) => host.requestInput("which").then(() => undefined, (error) => error);
  assertEquals(await thrownBy(refusing), { tag: "refused", val: "no" });
  assertEquals((await thrownBy(hostWith({}))).tag, "refused");
  await assertRejects(() => answering.requestInput(7), TypeError);
});
