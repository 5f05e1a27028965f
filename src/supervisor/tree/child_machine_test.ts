import { assert, assertEquals } from "@std/assert";
import { DRAINED, EXIT, KILLED, Life, READY, RESULT } from "./child_fixture.ts";
import { wakeAtMs } from "./child_clock.ts";
import { MATRIX_INPUTS, PLACES, row } from "./child_matrix_fixture.ts";
import { PHASES } from "./child_state.ts";

const MATRIX = new URL("../testdata/child_matrix.txt", import.meta.url);

/** `input @ place` → what it leads to, as the file has it. */
function readMatrix(text: string): Map<string, string> {
  const cells = new Map<string, string>();
  let input = "";
  for (const line of text.trimEnd().split("\n")) {
    const [leadsTo, places] = line.split(" <- ");
    if (places === undefined) input = line;
    for (const place of places?.split(" | ") ?? []) {
      assert(!cells.has(`${input} @ ${place}`), `twice: ${input} @ ${place}`);
      cells.set(`${input} @ ${place}`, leadsTo!.trim());
    }
  }
  return cells;
}

Deno.test("step: every input at every place leads where the matrix says, and the matrix has no other", () => {
  const wanted = readMatrix(Deno.readTextFileSync(MATRIX));
  for (const input of Object.keys(MATRIX_INPUTS)) {
    for (const place of Object.keys(PLACES)) {
      const key = `${input} @ ${place}`;
      assertEquals(`${key}: ${row(place, input)}`, `${key}: ${wanted.get(key)}`);
      wanted.delete(key);
    }
  }
  assertEquals([...wanted.keys()], []);
  assertEquals(new Set(Object.values(PLACES).map((place) => place().state.phase)), new Set(PHASES));
});

Deno.test("step: whatever happens in whatever order, a child settles once and stays ended", () => {
  const inputs = Object.values(MATRIX_INPUTS);
  for (const first of inputs) {
    for (const second of inputs) {
      for (const place of Object.values(PLACES)) {
        const life = place();
        life.feed(first, second, KILLED, DRAINED, ...inputs);
        assertEquals(life.state.phase, "ended");
        assert(life.ending.status !== undefined && wakeAtMs(life.state) === undefined);
      }
    }
  }
});

Deno.test("roles: turn_done is a turn's last word and nobody else's; a warm session alone has turns", () => {
  const turn = new Life({ role: "turn" });
  turn.feed(READY, MATRIX_INPUTS["turn_done"]!, EXIT, DRAINED);
  assertEquals([turn.ending.status, turn.ending.turn?.rounds], ["completed", 1]);
  const wrong = new Life({ role: "turn" });
  wrong.feed(READY, RESULT);
  assertEquals(wrong.state.reason?.ended_by, "protocol_broken");
});
