import { assertEquals, assertThrows } from "@std/assert";
import { thrown } from "../host_fixture.ts";
import { utf8 } from "../net/stream_fixture.ts";
import { Fields } from "./fields.ts";
import { OutgoingBody } from "./outgoing_body.ts";
import { OutgoingRequest, OutgoingResponse, requestPartsOf } from "./outgoing_message.ts";
import { isPathWithQuery, methodOf, readAuthority } from "./request_line.ts";
import { RequestOptions, timeoutsOf } from "./request_options.ts";
import { type GuestAnswer, ResponseOutparam } from "./response_outparam.ts";
import { HOSTED } from "../hosted.ts";

Deno.test("outgoing-request: what a part may be is kept, anything else is refused and changes nothing", () => {
  const request = new OutgoingRequest(new Fields());
  assertEquals([request.method(), request.scheme(), request.authority()], [{ tag: "get" }, undefined, undefined]);
  request.setMethod({ tag: "other", val: "PURGE" });
  for (const val of ["", "A B", "A\r\nB"]) {
    assertEquals(thrown(() => request.setMethod({ tag: "other", val })), undefined);
  }
  assertEquals(request.method(), { tag: "other", val: "PURGE" });
  for (const path of ["/", "/a?b=c%20d", "?x", "", undefined]) request.setPathWithQuery(path);
  for (const path of ["a", "/a b", "/a#b", "/\r\n", "/ä"]) {
    assertEquals(thrown(() => request.setPathWithQuery(path)), undefined, path);
  }
  for (const authority of ["a.example", "a.example:81", "[::1]:8080", "192.0.2.1", undefined]) {
    request.setAuthority(authority);
  }
  for (const authority of ["user@a.example", "a.example/x", "a.example:99999", "127.1", "0x7f.1", "a b", "[::1"]) {
    assertEquals(thrown(() => request.setAuthority(authority)), undefined, authority);
  }
  request.setScheme({ tag: "other", val: "ftp" });
  assertEquals(thrown(() => request.setScheme({ tag: "other", val: "f:" })), undefined);
  assertEquals(requestPartsOf(request).scheme, "ftp");
});

Deno.test("outgoing-request: its headers belong to it from then on; its body is given once", () => {
  const fields = new Fields();
  const request = new OutgoingRequest(fields);
  assertEquals(thrown(() => fields.append("a", utf8("b"))), { tag: "immutable" });
  assertEquals(thrown(() => request.headers().append("a", utf8("b"))), { tag: "immutable" });
  const body = request.body();
  assertEquals(thrown(() => request.body()), undefined);
  body.write();
  assertEquals(thrown(() => body.write()), undefined);
  assertThrows(() => new OutgoingRequest({} as Fields), TypeError);
});

Deno.test("outgoing-body: what is written is what Content-Length says, or it is an error at the byte too many or at the end", () => {
  const make = (length: string) => new OutgoingRequest(Fields.fromList([["Content-Length", utf8(length)]])).body();
  const exact = make("3");
  exact.write().write(utf8("abc"));
  OutgoingBody.finish(exact, undefined);
  const short = make("3");
  short.write().write(utf8("ab"));
  assertEquals(thrown(() => OutgoingBody.finish(short, undefined)), { tag: "HTTP-request-body-size", val: 2n });
  const stream = make("3").write();
  const error = thrown(() => stream.write(utf8("abcd"))) as { tag: string; val: { httpCode: unknown } };
  assertEquals([error.tag, error.val.httpCode], ["last-operation-failed", {
    tag: "HTTP-request-body-size",
    val: 4n,
  }]);
  const response = new OutgoingResponse(Fields.fromList([["content-length", utf8("1")]])).body();
  assertEquals(thrown(() => OutgoingBody.finish(response, undefined)), { tag: "HTTP-response-body-size", val: 0n });
});

Deno.test("outgoing-body: trailers are refused and not lost; none and empty ones are fine", () => {
  const body = () => new OutgoingResponse(new Fields()).body();
  OutgoingBody.finish(body(), undefined);
  OutgoingBody.finish(body(), new Fields());
  const refused = thrown(() => OutgoingBody.finish(body(), Fields.fromList([["a", utf8("b")]])));
  assertEquals(refused, { tag: "HTTP-request-trailer-section-size", val: 0 });
});

Deno.test("outgoing-body: before it is taken a megabyte fits, and check-write says how much more", () => {
  const stream = new OutgoingRequest(new Fields()).body().write();
  assertEquals(stream.checkWrite(), 1_048_576n);
  stream.write(new Uint8Array(1_048_575));
  assertEquals(stream.checkWrite(), 1n);
  stream.write(new Uint8Array(1));
  assertEquals([stream.checkWrite(), stream.subscribe().ready()], [0n, false]);
  assertThrows(() => stream.write(new Uint8Array(1)), Error, "more than check-write");
});

Deno.test("outgoing-response: a status of three digits, the body once", () => {
  const response = new OutgoingResponse(new Fields());
  response.setStatusCode(404);
  for (const status of [99, 1000, 200.5]) assertEquals(thrown(() => response.setStatusCode(status)), undefined);
  assertEquals(response.statusCode(), 404);
  response.body();
  assertEquals(thrown(() => response.body()), undefined);
});

Deno.test("response-outparam: answers once, and a dropped one answers with an error", () => {
  const answers: GuestAnswer[] = [];
  const outparam = new ResponseOutparam(HOSTED, (answer) => answers.push(answer));
  ResponseOutparam.set(outparam, { tag: "ok", val: new OutgoingResponse(new Fields()) });
  outparam[Symbol.dispose]();
  new ResponseOutparam(HOSTED, (answer) => answers.push(answer))[Symbol.dispose]();
  assertEquals(answers.map(({ kind }) => kind), ["response", "error"]);
  assertThrows(
    () => ResponseOutparam.set({} as ResponseOutparam, { tag: "err", val: { tag: "loop-detected" } }),
    TypeError,
  );
});

Deno.test("request-options: nanoseconds in, milliseconds out, never 0 for something and never beyond a timer", () => {
  const options = new RequestOptions();
  assertEquals(timeoutsOf(options), {});
  options.setConnectTimeout(1n);
  options.setFirstByteTimeout(1_500_000n);
  options.setBetweenBytesTimeout(2n ** 64n - 1n);
  assertEquals(timeoutsOf(options), { connectMs: 1, firstByteMs: 2, betweenBytesMs: 2 ** 31 - 1 });
  assertEquals(options.connectTimeout(), 1n);
});

Deno.test("readAuthority, isPathWithQuery, methodOf: one form of a host, no user information, no fragment", () => {
  assertEquals(readAuthority("A.Example", 80), { host: "a.example", port: 80 });
  assertEquals(readAuthority("[::FFFF:127.0.0.1]:1", 80), { host: "127.0.0.1", port: 1 });
  assertEquals([readAuthority("a@b", 80), readAuthority("a:0", 80)], [undefined, undefined]);
  assertEquals([isPathWithQuery("/a"), isPathWithQuery("/a#")], [true, false]);
  assertEquals([methodOf("GET"), methodOf("get")], [{ tag: "get" }, { tag: "other", val: "get" }]);
});
