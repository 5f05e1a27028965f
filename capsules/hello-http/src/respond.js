import { Fields, IncomingBody, OutgoingBody, OutgoingResponse, ResponseOutparam } from "wasi:http/types@0.2.12";
import { writeAll } from "../../wasi/streams.js";
import { encodeUtf8 } from "../../wasi/text.js";

const PIECE_BYTES = 65536;

/** Answers with a text. */
export function respond(outparam, status, text) {
  const bytes = encodeUtf8(text);
  const body = begin(outparam, status, [["content-type", "text/plain; charset=utf-8"], [
    "content-length",
    `${bytes.length}`,
  ]]);
  const stream = body.write();
  writeAll(stream, bytes);
  stream[Symbol.dispose]();
  OutgoingBody.finish(body, undefined);
}

/** Answers with the request's own body, piece by piece: as fast as it comes in, and as it is taken. */
export function passBody(request, outparam) {
  const incoming = request.consume();
  const input = incoming.stream();
  const body = begin(outparam, 200, [["content-type", "application/octet-stream"]]);
  const output = body.write();
  try {
    for (;;) output.blockingSplice(input, PIECE_BYTES);
  } catch (error) {
    if (error.payload?.tag !== "closed") throw error;
  }
  for (const resource of [output, input]) resource[Symbol.dispose]();
  IncomingBody.finish(incoming);
  OutgoingBody.finish(body, undefined);
}

function begin(outparam, status, fields) {
  const response = new OutgoingResponse(Fields.fromList(fields.map(([name, value]) => [name, encodeUtf8(value)])));
  response.setStatusCode(status);
  const body = response.body();
  ResponseOutparam.set(outparam, { tag: "ok", val: response });
  return body;
}
