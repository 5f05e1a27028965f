import { assertEquals } from "@std/assert";
import { PeerShare } from "./peer_share.ts";

class Budget {
  spent = 0;
  kept = 0;
  readonly ceiling = 1_100;

  keep(tokens: number): void {
    this.kept = tokens;
  }

  get available(): number {
    return this.ceiling - this.spent - this.kept;
  }
}

Deno.test("PeerShare: all peers together have half, whoever of them asks, and the owner what is left", () => {
  const budget = new Budget();
  const share = new PeerShare(budget, 1_000);
  share.begin(true);
  assertEquals(budget.available, 500);
  budget.spent += 300;
  share.end();
  assertEquals(budget.available, 800);
  share.begin(false);
  budget.spent += 100;
  // Its session was lost: nobody said that the task ended.
  share.begin(true);
  assertEquals(budget.available, 200);
  // A round may cost more than was thought.
  budget.spent += 250;
  share.end();
  share.begin(true);
  assertEquals(budget.available, 0);
  share.end();
  assertEquals(budget.available, 450);
});
