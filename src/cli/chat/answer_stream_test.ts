import { assertEquals } from "@std/assert";
import { AnswerStream } from "./answer_stream.ts";

const piece = (at: number, text: string, round = 0) => ({ turn: 0, round, at, text });

Deno.test("AnswerStream: pieces in their order, and at the end what is missing, so that the answer is there once", () => {
  const stream = new AnswerStream();
  assertEquals([stream.take(piece(0, "one ")), stream.take(piece(4, "two "))], [{ piece: "one " }, { piece: "two " }]);
  // The piece between them was lost: nothing behind a gap is shown.
  assertEquals([stream.take(piece(14, "four")), stream.take(piece(18, "five"))], [{}, {}]);
  assertEquals(stream.end("one two three fourfive"), { text: "three fourfive", isAnew: false });
  assertEquals(stream.take(piece(0, "next")), { piece: "next" });
  assertEquals(stream.end("next"), { text: "", isAnew: false });
  assertEquals(stream.end("never streamed"), { text: "never streamed", isAnew: false });
});

Deno.test("AnswerStream: what was said before a tool or taken back is none of the answer", () => {
  const stream = new AnswerStream();
  stream.take(piece(0, "I look."));
  assertEquals(stream.take(piece(0, "Found", 1)), { piece: "Found" });
  assertEquals(stream.end("Found it"), { text: " it", isAnew: false });
  stream.take(piece(0, "half"));
  assertEquals(stream.take({ ...piece(0, ""), reset: true }), { isVoid: true });
  assertEquals(stream.take(piece(0, "whole")), { piece: "whole" });
  assertEquals(stream.end("whole"), { text: "", isAnew: false });
  stream.take(piece(0, "Done."));
  assertEquals(stream.end('{"n":1}'), { text: '{"n":1}', isAnew: true });
  // A new attempt of whose beginning nothing was heard.
  stream.take(piece(0, "first try"));
  assertEquals(stream.take(piece(0, "second")), {});
  assertEquals(stream.end("second try"), { text: "second try", isAnew: true });
  // Longer than what is kept of it.
  stream.take(piece(0, "all of it"));
  assertEquals(stream.end("all"), { text: "", isAnew: true });
});
