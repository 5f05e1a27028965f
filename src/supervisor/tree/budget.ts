import { type BudgetGrant, MAX_BUDGET_WAIT_MS } from "../../protocol/control/mod.ts";

/** What a session holds: what it was admitted with, what it may ever cost, what it may spend by now, what it has spent. */
interface Held {
  readonly admitted: number;
  readonly atMost: number;
  reserved: number;
  used: number;
}

/**
 * The tokens of one tree. A session's reservation is taken when it is admitted, used up by what it says it spent, and
 * what is left of it goes back when it ends, once. What it was let have for one round goes back when that round is paid:
 * whoever then waits for those it started would keep from them what they wait for. What was spent stays spent.
 */
export class TreeBudget {
  readonly ceiling: number;
  #spent = 0;
  #kept = 0;
  readonly #held = new Map<string, Held>();

  /** @param ceiling tokens, 0 or more */
  constructor(ceiling: number) {
    if (!Number.isSafeInteger(ceiling) || ceiling < 0) {
      throw new RangeError(`Tree budget ${ceiling}: must be 0 or more`);
    }
    this.ceiling = ceiling;
  }

  /** Tokens that nobody has spent or reserved; below 0 when sessions spent more than they had reserved. */
  get available(): number {
    return this.#unspent - [...this.#held.values()].reduce((sum, held) => sum + openOf(held), 0);
  }

  /** Tokens that nobody is let have now. */
  get kept(): number {
    return this.#kept;
  }

  /** From now on keeps so many tokens back; 0 keeps none. What is spent meanwhile is spent beside them. */
  keep(tokens: number): void {
    this.#kept = Math.max(0, tokens);
  }

  get spent(): number {
    return this.#spent;
  }

  /** Sessions that hold a reservation. */
  get holders(): number {
    return this.#held.size;
  }

  /**
   * Reserves `tokens` for a session, or does nothing and says no: 0 is no budget, and more than there is is not there.
   * Whatever it says that it spent, the tree loses no more to it than `atMost`, its own limit.
   */
  reserve(key: string, tokens: number, atMost = Number.MAX_SAFE_INTEGER): boolean {
    if (this.#held.has(key)) throw new TypeError(`Reserve tokens: ${key} holds a reservation already`);
    if (!Number.isSafeInteger(tokens) || tokens < 1 || tokens > this.available) return false;
    this.#held.set(key, { admitted: tokens, atMost, reserved: tokens, used: 0 });
    return true;
  }

  /**
   * Takes the price of a round off the session's reservation; beyond it, off the tree. False when the session holds none
   * (any more).
   */
  settle(key: string, tokens: number): boolean {
    const held = this.#held.get(key);
    if (held === undefined) return false;
    const counted = Math.max(0, Math.min(tokens, held.atMost - held.used));
    held.used += counted;
    held.reserved = Math.max(held.admitted, held.used);
    this.#spent = saturate(this.#spent + counted);
    return true;
  }

  /** Makes the reservation cover `tokens` more than the session has used, if the tree has them. */
  cover(key: string, tokens: number): boolean {
    const held = this.#held.get(key);
    if (held === undefined) return false;
    const missing = held.used + tokens - Math.max(held.reserved, held.used);
    if (missing > this.available) return false;
    held.reserved = Math.max(held.reserved, held.used + tokens);
    return true;
  }

  /** Whether it could be covered once all others had given back what they hold. */
  couldCover(key: string, tokens: number): boolean {
    return this.#held.has(key) && tokens <= this.#unspent;
  }

  get #unspent(): number {
    return this.ceiling - this.#spent - this.#kept;
  }

  /** Gives back what is left of the reservation. False the second time. */
  release(key: string): boolean {
    return this.#held.delete(key);
  }
}

/** What a session asks before it spends, and what bounds the answer. */
export interface BudgetAsk {
  readonly key: string;
  readonly estimate: number;
  /** Tokens that its own limit leaves it. */
  readonly ownLeft: number;
  /** A model that costs `share` (above 0, below 1) of the one asked for. */
  readonly cheaper?: { readonly model: string; readonly share: number } | undefined;
}

/** The answer to a session that asked whether it may spend. */
export type BudgetVerdict =
  | { readonly kind: "admit"; readonly model?: string }
  | { readonly kind: "wait"; readonly waitMs: number }
  | { readonly kind: "refuse"; readonly reason: string };

/** How long to wait for reservations of others, ms. */
const WAIT_FOR_OTHERS_MS = 1_000;
const MIN_WAIT_MS = 100;

/**
 * Admits what the session's own limit and the tree cover; else admits it on the cheaper model if that fits; else lets
 * it wait for reservations of others, if those would do when they come back; else refuses.
 */
export function decideBudget(budget: TreeBudget, ask: BudgetAsk): BudgetVerdict {
  const { key, estimate, ownLeft, cheaper } = ask;
  if (estimate <= ownLeft && budget.cover(key, estimate)) return { kind: "admit" };
  const less = cheaper && Math.ceil(estimate * cheaper.share);
  if (less !== undefined && less <= ownLeft && budget.cover(key, less)) {
    return { kind: "admit", model: cheaper!.model };
  }
  const wanted = less ?? estimate;
  if (wanted > ownLeft) {
    return { kind: "refuse", reason: `the session has ${Math.max(0, ownLeft)} tokens left, wanted ${wanted}` };
  }
  if (budget.couldCover(key, wanted)) return { kind: "wait", waitMs: WAIT_FOR_OTHERS_MS };
  const who = budget.kept > 0 ? "peers have" : "the tree has";
  return { kind: "refuse", reason: `${who} ${Math.max(0, budget.available)} tokens left, wanted ${wanted}` };
}

/** The verdict as it goes onto the wire; a wait is 100 ms to 60 s. */
export function toBudgetGrant(id: number, verdict: BudgetVerdict): BudgetGrant {
  const grant = { type: "budget_grant", id, ok: verdict.kind === "admit", wait_ms: 0 } as const;
  switch (verdict.kind) {
    case "admit":
      return { ...grant, ...(verdict.model !== undefined && { model: verdict.model }) };
    case "wait":
      return { ...grant, wait_ms: Math.min(MAX_BUDGET_WAIT_MS, Math.max(MIN_WAIT_MS, Math.ceil(verdict.waitMs))) };
    case "refuse":
      return { ...grant, reason: verdict.reason };
  }
}

function openOf({ reserved, used }: Held): number {
  return Math.max(0, reserved - used);
}

function saturate(tokens: number): number {
  return Math.min(tokens, Number.MAX_SAFE_INTEGER);
}
