import { assert, assertEquals, assertThrows } from "@std/assert";
import type { BudgetGrant } from "../../protocol/control/mod.ts";
import { type BudgetAsk, decideBudget, toBudgetGrant, TreeBudget } from "./budget.ts";

Deno.test("TreeBudget: what is reserved is gone, what was not used comes back, once", () => {
  const budget = new TreeBudget(1_000);
  assert(budget.reserve("a", 600));
  assert(!budget.reserve("b", 401));
  assert(budget.reserve("b", 400));
  assertEquals([budget.available, budget.holders], [0, 2]);
  budget.settle("a", 250);
  assertEquals([budget.available, budget.spent], [0, 250]);
  assertEquals([budget.release("a"), budget.release("a")], [true, false]);
  assertEquals([budget.available, budget.spent], [350, 250]);
});

Deno.test("TreeBudget: 0 is refused and never unlimited; so is what is not a count", () => {
  const budget = new TreeBudget(1_000);
  for (const tokens of [0, -1, 1.5, NaN, Infinity, 2 ** 53]) assert(!budget.reserve("a", tokens));
  assert(!new TreeBudget(0).reserve("a", 1));
  assertThrows(() => new TreeBudget(-1), RangeError);
  assertEquals(budget.available, 1_000);
});

Deno.test("TreeBudget: what is kept back is nobody's to have until it is not, and a refusal says so", () => {
  const budget = new TreeBudget(1_000);
  budget.reserve("a", 1);
  budget.keep(900);
  assert(!budget.reserve("b", 100));
  const ask: BudgetAsk = { key: "a", estimate: 200, ownLeft: 1_000 };
  assertEquals(decideBudget(budget, ask), { kind: "refuse", reason: "peers have 99 tokens left, wanted 200" });
  assertEquals(decideBudget(budget, { ...ask, estimate: 100 }), { kind: "admit" });
  budget.keep(0);
  assertEquals(decideBudget(budget, ask), { kind: "admit" });
});

Deno.test("TreeBudget: what is spent beyond a reservation is the tree's loss, and stays one after the end", () => {
  const budget = new TreeBudget(1_000);
  budget.reserve("a", 100);
  budget.settle("a", 700);
  assertEquals(budget.available, 300);
  budget.release("a");
  assertEquals([budget.available, budget.settle("a", 1)], [300, false]);
  budget.reserve("b", 300);
  budget.settle("b", Number.MAX_SAFE_INTEGER);
  assert(budget.available < 0 && !budget.reserve("c", 1));
});

Deno.test("TreeBudget: what a session says that it spent costs the tree its own limit and no more", () => {
  const budget = new TreeBudget(1_000);
  budget.reserve("parent", 1, 1_000);
  budget.reserve("liar", 1, 300);
  for (const tokens of [200, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]) budget.settle("liar", tokens);
  assertEquals([budget.spent, budget.available], [300, 699]);
  const ask = (key: string, estimate: number) => decideBudget(budget, { key, estimate, ownLeft: 1_000 }).kind;
  assertEquals([ask("parent", 700), ask("parent", 701)], ["admit", "refuse"]);
  assertEquals([budget.release("liar"), budget.settle("liar", 1), budget.spent], [true, false, 300]);
});

Deno.test("decideBudget: admitted, on the cheaper model, told to wait, refused, each for its own reason", () => {
  const budget = new TreeBudget(1_000);
  budget.reserve("a", 100);
  budget.reserve("b", 700);
  const ask = (fields: Partial<BudgetAsk>) =>
    decideBudget(budget, { key: "a", estimate: 1, ownLeft: 5_000, ...fields });
  assertEquals(ask({ estimate: 100 }), { kind: "admit" });
  assertEquals(ask({ estimate: 300 }), { kind: "admit" });
  assertEquals(ask({ estimate: 301 }), { kind: "wait", waitMs: 1_000 });
  const cheaper = { model: "small", share: 0.1 };
  assertEquals(ask({ estimate: 3_000, cheaper }), { kind: "admit", model: "small" });
  assertEquals(ask({ estimate: 3_001, cheaper }), { kind: "wait", waitMs: 1_000 });
  const own = ask({ estimate: 11, ownLeft: 10 });
  assertEquals(own, { kind: "refuse", reason: "the session has 10 tokens left, wanted 11" });
  budget.release("b");
  assertEquals(ask({ estimate: 1_001 }), { kind: "refuse", reason: "the tree has 700 tokens left, wanted 1001" });
  assertEquals(decideBudget(budget, { key: "gone", estimate: 1, ownLeft: 9 }).kind, "refuse");
});

Deno.test("decideBudget: what it admits is reserved, so that two sessions never get the same tokens", () => {
  const budget = new TreeBudget(100);
  budget.reserve("a", 10);
  budget.reserve("b", 10);
  assertEquals(decideBudget(budget, { key: "a", estimate: 90, ownLeft: 100 }), { kind: "admit" });
  assertEquals(decideBudget(budget, { key: "b", estimate: 11, ownLeft: 100 }).kind, "wait");
  budget.settle("a", 40);
  budget.release("a");
  assertEquals(decideBudget(budget, { key: "b", estimate: 60, ownLeft: 100 }), { kind: "admit" });
});

Deno.test("decideBudget: what a round did not use is another's once it is paid; who waits for a child starves it of nothing", () => {
  const budget = new TreeBudget(6_000);
  budget.reserve("parent", 1);
  budget.reserve("child", 1);
  const ask = (key: string) => decideBudget(budget, { key, estimate: 4_100, ownLeft: 6_000 });
  assertEquals([ask("parent").kind, ask("child").kind], ["admit", "wait"]);
  budget.settle("parent", 20);
  assertEquals([ask("child").kind, ask("parent").kind], ["admit", "wait"]);
  budget.settle("child", 2_000);
  // Nobody holds what is missing: no waiting would bring it.
  const late = ask("parent");
  assertEquals(late, { kind: "refuse", reason: "the tree has 3980 tokens left, wanted 4100" });
  assertEquals([budget.spent, budget.holders], [2_020, 2]);
});

Deno.test("toBudgetGrant: yes, perhaps on another model; later, in 100 ms to 60 s; no, with the reason", () => {
  const grant = { type: "budget_grant", id: 7, wait_ms: 0 };
  assertEquals(toBudgetGrant(7, { kind: "admit" }), { ...grant, ok: true } as BudgetGrant);
  assertEquals(toBudgetGrant(7, { kind: "admit", model: "m" }), { ...grant, ok: true, model: "m" } as BudgetGrant);
  assertEquals(toBudgetGrant(7, { kind: "refuse", reason: "r" }), { ...grant, ok: false, reason: "r" } as BudgetGrant);
  const waits = [0, 99.5, 100, 1_000.1, 60_000, 60_001, Infinity];
  assertEquals(waits.map((waitMs) => toBudgetGrant(7, { kind: "wait", waitMs }).wait_ms), [
    ...[100, 100, 100, 1_001, 60_000, 60_000, 60_000],
  ]);
});
