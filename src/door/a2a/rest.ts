import { REST_PATH } from "./agent_card.ts";
import type { Call, CallError, Calls } from "./calls.ts";
import { type HttpReply, type HttpRequest, jsonReply } from "../http/http_message.ts";
import type { JsonBody } from "./json_body.ts";
import { busyReply } from "./json_rpc.ts";

/** An operation as the path names it. */
export interface RestRoute {
  readonly method: string;
  /** What the path and the query say. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Whether the body is the parameters. */
  readonly takesBody: boolean;
}

/** HTTP status, and its name in `google.rpc.Code`, of each error (§5.4, §11.6). */
const STATUS: Readonly<Record<number, readonly [number, string]>> = {
  [-32700]: [400, "INVALID_ARGUMENT"],
  [-32601]: [404, "NOT_FOUND"],
  [-32602]: [400, "INVALID_ARGUMENT"],
  [-32001]: [404, "NOT_FOUND"],
  [-32002]: [409, "FAILED_PRECONDITION"],
  [-32003]: [400, "UNIMPLEMENTED"],
  [-32004]: [400, "UNIMPLEMENTED"],
  [-32005]: [415, "INVALID_ARGUMENT"],
  [-32009]: [400, "UNIMPLEMENTED"],
  [-31003]: [503, "UNAVAILABLE"],
};

/** The operation of a request below `/v1`; undefined when there is none. */
export function restRoute({ method, path, query }: HttpRequest): RestRoute | undefined {
  if (!path.startsWith(`${REST_PATH}/`)) return undefined;
  const rest = path.slice(REST_PATH.length);
  const key = `${method} ${rest}`;
  if (key === "POST /message:send") return { method: "SendMessage", params: {}, takesBody: true };
  if (key === "POST /message:stream") return { method: "SendStreamingMessage", params: {}, takesBody: true };
  if (key === "GET /tasks") return { method: "ListTasks", params: listParams(query), takesBody: false };
  if (key === "GET /extendedAgentCard") return { method: "GetExtendedAgentCard", params: {}, takesBody: false };
  const [, id, action = ""] = /^\/tasks\/([^/:]+)(:[a-z]+|\/pushNotificationConfigs(?:\/[^/]+)?)?$/.exec(rest) ?? [];
  if (id === undefined) return undefined;
  const params = { id: decoded(id) };
  if (action.startsWith("/")) return { method: "GetTaskPushNotificationConfig", params, takesBody: false };
  if (method === "GET" && action === "") {
    return { method: "GetTask", params: { ...params, ...numbers(query, "historyLength") }, takesBody: false };
  }
  if (method === "POST" && action === ":cancel") return { method: "CancelTask", params, takesBody: false };
  if ((method === "POST" || method === "GET") && action === ":subscribe") {
    return { method: "SubscribeToTask", params, takesBody: false };
  }
  return undefined;
}

/** Answers one request of the HTTP+JSON binding. */
export async function answerRest(
  route: RestRoute,
  body: JsonBody | undefined,
  { calls, ...from }: Pick<Call, "request" | "caller" | "hold"> & { readonly calls: Calls },
): Promise<HttpReply> {
  if (body?.ok === false) return restError({ code: -32700, message: `Read a request: ${body.message}` });
  const result = await calls.run({
    method: route.method,
    params: route.takesBody ? body?.value : route.params,
    ...from,
  });
  switch (result.kind) {
    case "result":
      return jsonReply(200, result.result);
    case "error":
      return restError(result.error);
    case "busy":
      return busyReply(result.message);
    case "stream":
      return result.reply({ wrap: (json) => json, error: (error) => JSON.stringify(errorBody(error)) });
  }
}

/** An error as a reply of this binding. */
export function restError(error: CallError): HttpReply {
  return jsonReply(statusOf(error)[0], errorBody(error));
}

function errorBody(error: CallError): unknown {
  const [code, status] = statusOf(error);
  return { error: { code, status, message: error.message, details: error.data ?? [] } };
}

function statusOf({ code }: CallError): readonly [number, string] {
  return STATUS[code] ?? [500, "INTERNAL"];
}

/** A query is text; what is no number stays one, and is refused by its name. */
function listParams(query: URLSearchParams): Record<string, unknown> {
  const texts = ["contextId", "status", "pageToken", "statusTimestampAfter"].flatMap((name) => {
    const value = query.get(name);
    return value === null || value === "" ? [] : [[name, value]];
  });
  const artifacts = query.get("includeArtifacts");
  return {
    ...Object.fromEntries(texts),
    ...numbers(query, "pageSize", "historyLength"),
    ...(artifacts !== null &&
      { includeArtifacts: artifacts === "true" ? true : artifacts === "false" ? false : artifacts }),
  };
}

function numbers(query: URLSearchParams, ...names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => {
    const value = query.get(name);
    return value === null || value === "" ? [] : [[name, /^\d{1,9}$/.test(value) ? Number(value) : value]];
  }));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
