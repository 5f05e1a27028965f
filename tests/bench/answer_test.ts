import { assertEquals, assertThrows } from "@std/assert";
import { findAnswerEnd, statusOf } from "./answer.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("findAnswerEnd knows the end at every split point, by length and by chunks", () => {
  const answers = [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nvary: x\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
  ];
  for (const answer of answers) {
    for (let length = 0; length < answer.length; length++) {
      assertEquals(findAnswerEnd(bytes(answer.slice(0, length))), undefined);
    }
    assertEquals(findAnswerEnd(bytes(answer)), answer.length);
    assertEquals(findAnswerEnd(bytes(`${answer}HTTP/1.1 200`)), answer.length);
  }
  assertThrows(() => findAnswerEnd(bytes("HTTP/1.1 200 OK\r\n\r\nhello\r\n")), Error, "found no chunk");
});

Deno.test("statusOf reads the status and refuses what is no answer", () => {
  assertEquals(statusOf(bytes("HTTP/1.1 503 Service Unavailable\r\n")), 503);
  assertThrows(() => statusOf(bytes("SSH-2.0-x\r\n")), Error, "wanted a status line");
});
