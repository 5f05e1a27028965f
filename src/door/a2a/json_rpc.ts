import type { Call, CallError, Calls } from "./calls.ts";
import { type HttpReply, jsonReply } from "../http/http_message.ts";
import type { JsonBody } from "./json_body.ts";

type RpcId = string | number | null;

/** A request of JSON-RPC 2.0 that is in order. */
interface RpcRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: unknown;
}

/** Errors of JSON-RPC itself. */
export const RPC_ERROR = { parse: -32700, request: -32600 } as const;

/** Answers one request of the JSON-RPC binding; an error is an HTTP 200. */
export async function answerJsonRpc(
  body: JsonBody,
  { calls, ...from }: Pick<Call, "request" | "caller" | "hold"> & { readonly calls: Calls },
): Promise<HttpReply> {
  if (!body.ok) return rpcError(null, { code: RPC_ERROR.parse, message: `Read a request: ${body.message}` });
  const read = readRpc(body.value);
  if ("fault" in read) return rpcError(read.id, { code: RPC_ERROR.request, message: `Read a request: ${read.fault}` });
  const { id, method, params } = read;
  const result = await calls.run({ method, params, ...from });
  switch (result.kind) {
    case "result":
      return jsonReply(200, { jsonrpc: "2.0", id, result: result.result });
    case "error":
      return rpcError(id, result.error);
    case "busy":
      return busyReply(result.message);
    case "stream":
      return result.reply({
        wrap: (json) => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${json}}`,
        error: (error) => JSON.stringify({ jsonrpc: "2.0", id, error }),
      });
  }
}

/** An error to a request with that id. */
export function rpcError(id: RpcId, error: CallError): HttpReply {
  return jsonReply(200, { jsonrpc: "2.0", id, error });
}

/** Not now. */
export function busyReply(message: string): HttpReply {
  return jsonReply(503, { error: "unavailable", message }, [["retry-after", "1"]]);
}

function readRpc(value: unknown): RpcRequest | { readonly id: RpcId; readonly fault: string } {
  if (Array.isArray(value)) return { id: null, fault: "found a batch, wanted one request" };
  if (typeof value !== "object" || value === null) return { id: null, fault: "wanted an object" };
  const { jsonrpc, id = null, method, params = {} } = value as Record<string, unknown>;
  if (!isRpcId(id)) return { id: null, fault: "id: wanted a string or a whole number" };
  if (jsonrpc !== "2.0") return { id, fault: 'jsonrpc: wanted "2.0"' };
  if (typeof method !== "string" || method === "") return { id, fault: "method: wanted a string" };
  return { id, method, params };
}

function isRpcId(id: unknown): id is RpcId {
  return id === null || (typeof id === "string" && id.length <= 256) || Number.isSafeInteger(id);
}
