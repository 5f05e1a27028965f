/** Requests, made of `wasi:http`. */
import { handle } from "wasi:http/outgoing-handler@0.2.12";
import { Fields, OutgoingRequest } from "wasi:http/types@0.2.12";

/** The status that `url` (http or https) answers to HEAD, redirects followed. Throws the error code of `wasi:http`. */
export function requestHead(url) {
  const [, scheme, authority, path] = /^(https?):\/\/([^/?#]*)([^#]*)/.exec(url);
  const request = new OutgoingRequest(new Fields());
  request.setMethod({ tag: "head" });
  request.setScheme({ tag: scheme.toUpperCase() });
  request.setAuthority(authority);
  request.setPathWithQuery(path || "/");
  const response = waitFor(handle(request, undefined));
  const status = response.status();
  response[Symbol.dispose]();
  return status;
}

/** The response of a future. Throws its error code. */
function waitFor(future) {
  const pollable = future.subscribe();
  pollable.block();
  pollable[Symbol.dispose]();
  const { val: outcome } = future.get();
  future[Symbol.dispose]();
  if (outcome.tag === "err") throw outcome.val;
  return outcome.val;
}
