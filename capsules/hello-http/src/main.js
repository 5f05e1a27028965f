import { printError } from "../../wasi/stdio.js";
import { passBody, respond } from "./respond.js";

/** `wasi:http/incoming-handler`: a router of three paths. Each request has an instance of its own. */
export const incomingHandler = {
  handle(request, outparam) {
    const [path, query = ""] = (request.pathWithQuery() ?? "/").split("?", 2);
    switch (path) {
      case "/":
        return respond(outparam, 200, `Hello, ${decodeURIComponent(query) || "world"}!\n`);
      case "/echo":
        return passBody(request, outparam);
      case "/headers":
        return respond(outparam, 200, describe(request));
      default:
        printError(`no such path: ${path}`);
        return respond(outparam, 404, "Not here: try /, /echo or /headers\n");
    }
  },
};

function describe(request) {
  const { tag, val } = request.method();
  const fields = request.headers().entries().map(([name, value]) => `${name}: ${String.fromCharCode(...value)}`);
  const lines = [
    `${(val ?? tag).toUpperCase()} ${request.pathWithQuery()}`,
    `authority: ${request.authority()}`,
    ...fields,
  ];
  return lines.join("\n") + "\n";
}
