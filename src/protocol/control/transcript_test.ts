import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Msg, sealTranscript, type ToolCall } from "./mod.ts";

const MISSING = { content: "cancelled", ts: 9 };
const call = (id: string): ToolCall => ({ id, name: `tool-${id}`, arguments: {} });
const asks = (...ids: string[]): Msg => ({ role: "assistant", tool_calls: ids.map(call), ts: 1 });
const answer = (id: string): Msg => ({ role: "tool", id, name: `tool-${id}`, content: "ok", is_error: false, ts: 2 });
const missing = (id: string): Msg => ({ role: "tool", id, name: `tool-${id}`, ...MISSING, is_error: true });
const USER: Msg = { role: "user", text: "go on", ts: 3 };
const NOTE: Msg = { role: "note", text: "for people", ts: 3 };

Deno.test("sealTranscript: a call without an answer gets an error behind the answers of its round, in the order of the calls", () => {
  const cases: readonly [string, Msg[], Msg[]][] = [
    ["nothing", [], []],
    ["no calls", [USER, asks()], [USER, asks()]],
    ["all answered, in any order", [asks("a", "b"), answer("b"), answer("a")], [
      ...[asks("a", "b"), answer("b"), answer("a")],
    ]],
    ["none answered", [USER, asks("a", "b")], [USER, asks("a", "b"), missing("a"), missing("b")]],
    ["between two", [asks("a", "b", "c"), answer("a")], [asks("a", "b", "c"), answer("a"), missing("b"), missing("c")]],
    ["in an earlier round", [asks("a"), asks("b"), answer("b"), USER], [
      ...[asks("a"), missing("a"), asks("b"), answer("b"), USER],
    ]],
    ["a note ends no round", [asks("a", "b"), NOTE, answer("b"), USER], [
      ...[asks("a", "b"), NOTE, answer("b"), missing("a"), USER],
    ]],
    ["one id twice", [asks("a", "a"), answer("a")], [asks("a", "a"), answer("a"), missing("a")]],
  ];
  for (const [name, messages, sealed] of cases) {
    assertEquals([name, sealTranscript(messages, MISSING)], [name, sealed]);
  }
});

Deno.test("sealTranscript: of any transcript, nothing is lost or moved, every call is answered, and again changes nothing", () => {
  const id = fc.constantFrom("a", "b", "c");
  const message = fc.oneof(
    fc.array(id, { maxLength: 3 }).map((ids) => asks(...ids)),
    id.map(answer),
    fc.constantFrom(USER, NOTE),
  );
  fc.assert(fc.property(fc.array(message), (messages) => {
    const sealed = sealTranscript(messages, MISSING);
    assertEquals(sealed.filter(({ ts }) => ts !== MISSING.ts), messages);
    assertEquals(sealTranscript(sealed, { content: "again", ts: 10 }), sealed);
    for (const [at, message] of sealed.entries()) {
      if (message.role !== "assistant") continue;
      const answers = answersBehind(sealed.slice(at + 1));
      for (const { id } of message.tool_calls) {
        assert(answers.includes(id), `${id} at ${at} of ${JSON.stringify(sealed)}`);
        answers.splice(answers.indexOf(id), 1);
      }
    }
  }));
});

/** The ids that are answered before the next round. */
function answersBehind(messages: readonly Msg[]): string[] {
  const end = messages.findIndex(({ role }) => role !== "tool" && role !== "note");
  return messages.slice(0, end < 0 ? messages.length : end).flatMap((found) => found.role === "tool" ? [found.id] : []);
}
