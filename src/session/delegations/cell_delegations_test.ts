import { assertEquals } from "@std/assert";
import { MAX_END_TEXT, MAX_REFUSAL, type ToCell } from "../../protocol/mod.ts";
import { CellDelegations, MAX_DELEGATIONS } from "./cell_delegations.ts";
import type { Delegator } from "./delegator.ts";

const CALL = { name: "delegate", args: { capsule: "worker", task: "", mounts: [] } } as const;

function idOf(number: number): string {
  return `dlg_${String(number).padStart(32, "0")}`;
}

/** What the cell is sent for one call. */
async function answersOf(delegator: Partial<Delegator>): Promise<ToCell[]> {
  const sent: ToCell[] = [];
  const whole: Delegator = {
    start: () => Promise.resolve({ delegation_id: idOf(1) }),
    ended: () => Promise.resolve("text"),
    ...delegator,
  };
  await new CellDelegations(whole).answer({ id: 7, ...CALL }, (message) => sent.push(message));
  return sent;
}

Deno.test("CellDelegations: the start is told before the end, and a refusal has no end", async () => {
  assertEquals(await answersOf({}), [
    { type: "host_result", id: 7, value: { delegation_id: idOf(1) } },
    { type: "delegation_end", delegation_id: idOf(1), text: "text" },
  ]);
  for (const kind of ["refused", "failed"] as const) {
    const answer = { kind, message: "spawn: worker" };
    assertEquals(await answersOf({ start: () => Promise.resolve(answer) }), [
      { type: "host_result", id: 7, error: answer },
    ]);
  }
});

Deno.test("CellDelegations: what breaks the delegator's word never reaches the guest, and what fits does to its limit", async () => {
  const failed = { kind: "failed", message: "Delegate: the runtime could not start it" } as const;
  const bad: readonly Delegator["start"][] = [
    () => Promise.reject(new Error("/home/of/somebody")),
    () => {
      throw new Error("at once");
    },
    ...["", "../dlg_1", `ses_${"0".repeat(32)}`].map((id) => () => Promise.resolve({ delegation_id: id })),
  ];
  for (const start of bad) assertEquals(await answersOf({ start }), [{ type: "host_result", id: 7, error: failed }]);
  const long = await answersOf({
    start: () => Promise.resolve({ kind: "refused", message: "x".repeat(MAX_REFUSAL + 1) }),
  });
  const { error } = long[0] as { error: { message: string } };
  assertEquals([error.message.length <= MAX_REFUSAL, error.message.endsWith("x […]")], [true, true]);
  const endOf = async (ended: Delegator["ended"]) => (await answersOf({ ended }))[1];
  const end = { type: "delegation_end", delegation_id: idOf(1) } as const;
  const whole = "x".repeat(MAX_END_TEXT);
  assertEquals(await endOf(() => Promise.resolve(whole)), { ...end, text: whole });
  const unknown = { ...end, text: `[delegate-task] delegation ${idOf(1)} ended unknown` };
  assertEquals(await endOf(() => Promise.resolve(`${whole}x`)), unknown);
  assertEquals(await endOf(() => Promise.reject(new Error("lost"))), unknown);
});

Deno.test("CellDelegations: so many at once, those that are being started included, and one more when one is over", async () => {
  const start = Promise.withResolvers<void>();
  const first = Promise.withResolvers<string>();
  let started = 0;
  const delegations = new CellDelegations({
    async start() {
      const id = idOf(++started);
      await start.promise;
      return { delegation_id: id };
    },
    ended: (id) => id === idOf(1) ? first.promise : new Promise(() => {}),
  });
  const refused: number[] = [];
  const ask = (id: number) =>
    delegations.answer({ id, ...CALL }, (message) => {
      if ("error" in message) refused.push(id);
    });
  const answers = Array.from({ length: MAX_DELEGATIONS + 1 }, (_, id) => ask(id));
  assertEquals([started, refused], [MAX_DELEGATIONS, [MAX_DELEGATIONS]]);
  start.resolve();
  first.resolve("over");
  await answers[0];
  void ask(100);
  void ask(101);
  assertEquals([started, refused], [MAX_DELEGATIONS + 1, [MAX_DELEGATIONS, 101]]);
});
