import { assert, assertEquals } from "@std/assert";
import { type AdmissionFacts, admit, type Gate, type RateBucket } from "./admission.ts";

const OPEN: AdmissionFacts = {
  draining: false,
  depth: 4,
  maxDepth: 4,
  children: 7,
  live: 63,
  wantedTokens: 100,
  availableTokens: 100,
  bucket: { starts: 1, atMs: 0 },
  nowMs: 0,
};

/** What makes each gate refuse, one step beyond what {@link OPEN} has. In the order of the gates. */
const CLOSED: readonly [Gate, Partial<AdmissionFacts>][] = [
  ["draining", { draining: true }],
  ["depth", { depth: 5 }],
  ["breadth", { children: 8 }],
  ["live", { live: 64 }],
  ["tokens", { wantedTokens: 101 }],
  ["rate", { bucket: { starts: 0.999, atMs: 0 } }],
];

Deno.test("admit: at every limit it admits, one beyond it the gate refuses and says its name", () => {
  assertEquals(admit(OPEN), { kind: "admitted", bucket: { starts: 0, atMs: 0 } });
  for (const [gate, facts] of CLOSED) {
    const answer = admit({ ...OPEN, ...facts });
    assert(answer.kind === "refused");
    assertEquals([answer.gate, answer.message.startsWith("Start a session: ")], [gate, true]);
  }
});

Deno.test("admit: of several gates that would refuse, the first in the order speaks (all 64 combinations)", () => {
  for (let chosen = 1; chosen < 1 << CLOSED.length; chosen++) {
    const closed = CLOSED.filter((_, i) => chosen & (1 << i));
    const answer = admit(Object.assign({ ...OPEN }, ...closed.map(([, facts]) => facts)));
    assertEquals(answer.kind === "refused" && answer.gate, closed[0]![0]);
  }
});

Deno.test("admit: a caller's own depth binds it before the tree's; a budget of 0 is refused", () => {
  assertEquals([admit({ ...OPEN, depth: 2, maxDepth: 2 }).kind, admit({ ...OPEN, depth: 3, maxDepth: 2 }).kind], [
    ...["admitted", "refused"],
  ]);
  assertEquals(admit({ ...OPEN, maxDepth: 9, depth: 5 }).kind, "refused");
  for (const wantedTokens of [0, -1]) {
    const answer = admit({ ...OPEN, wantedTokens });
    assertEquals(answer.kind === "refused" && answer.gate, "tokens");
  }
});

Deno.test("admit: eight at once, then two a second, and never more than eight; the clock set back gives nothing", () => {
  let bucket: RateBucket = { starts: 8, atMs: 0 };
  const starts = (nowMs: number): number => {
    for (let count = 0;; count++) {
      const answer = admit({ ...OPEN, bucket, nowMs });
      if (answer.kind === "refused") return count;
      bucket = answer.bucket;
    }
  };
  assertEquals([0, 499, 500, 1_500, 61_500, 1_000].map(starts), [8, 0, 1, 2, 8, 0]);
  const late = admit({ ...OPEN, bucket: { starts: 0.5, atMs: 0 }, nowMs: 0 });
  assert(late.kind === "refused" && late.message.includes("in 250 ms"));
});
