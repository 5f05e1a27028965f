import {
  type HttpField,
  type HttpRequestHead,
  isHttpField,
  MAX_HEAD_BYTES,
  MAX_HEAD_FIELDS,
  MAX_PATH_BYTES,
} from "../../protocol/mod.ts";
import { type CallFailure, type CallResponse, HttpCall } from "./http_call.ts";

/** What became of one request; nothing of its contents, and of its query nothing. */
export interface ServedRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly failed?: CallFailure["failed"];
  readonly detail?: string;
  readonly duration_ms: number;
}

/** What {@link HttpService} is made of. */
export interface HttpServiceOptions {
  /** Takes a call that was found in order. */
  submit(call: HttpCall): void;
  /** Longest request body, bytes. */
  readonly maxBodyBytes: number;
  /** Told once for each request, when it is over. */
  onServed(served: ServedRequest): void;
}

/** What a message says of its own connection (RFC 9110 §7.6.1), or what its own connection says otherwise. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"],
  ...["te", "trailer", "transfer-encoding", "upgrade", "host", "http2-settings", "expect"],
]);

const AUTHORITY = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]+)(:\d{1,5})?$/;
const PATH = /^\/[\x21\x22\x24-\x7e]*$/;
const METHOD = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;

/** Seconds after which an overloaded service may be asked again. */
const RETRY_AFTER_SECONDS = 1;

/** Each failure before a head, as a status. */
const FAILURE_STATUS: Readonly<Record<CallFailure["failed"], number>> = {
  trap: 500,
  exit: 500,
  limit: 500,
  memory: 500,
  no_response: 500,
  cancelled: 503,
  deadline: 504,
  cell_lost: 502,
  overloaded: 503,
  body_too_large: 413,
  client_gone: 400,
  draining: 503,
};

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  405: "Method Not Allowed",
  413: "Content Too Large",
  414: "URI Too Long",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** Requests of anybody to responses of a guest, both checked; opens no port itself. */
export class HttpService {
  readonly #options: HttpServiceOptions;
  readonly #underWay = new Set<HttpCall>();

  constructor(options: HttpServiceOptions) {
    this.#options = options;
  }

  /** Requests whose guest is not done yet. */
  get underWay(): number {
    return this.#underWay.size;
  }

  /** Settles when no request is under way. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all([...this.#underWay].map(({ over }) => over));
  }

  /** The response to one request. Never rejects. */
  async handle(request: Request): Promise<Response> {
    const startedAt = performance.now();
    const read = readRequest(request, this.#options.maxBodyBytes);
    if (typeof read === "number") {
      this.#tell({ method: "?", path: "?" }, read, startedAt);
      return plainResponse(read);
    }
    const call = new HttpCall({ head: read, body: request.body, maxBodyBytes: this.#options.maxBodyBytes });
    this.#underWay.add(call);
    request.signal.addEventListener("abort", () => abandon(call));
    this.#options.submit(call);
    const answer = await call.answer;
    const status = "failed" in answer ? FAILURE_STATUS[answer.failed] : answer.status;
    call.over.then((failure) => {
      this.#underWay.delete(call);
      this.#tell(read, status, startedAt, failure);
    });
    return "failed" in answer ? plainResponse(status) : guestResponse(answer, call, request.headers);
  }

  #tell(
    { method, path_with_query, path }: { method: string; path_with_query?: string; path?: string },
    status: number,
    startedAt: number,
    failure?: CallFailure,
  ): void {
    this.#options.onServed({
      method,
      path: (path ?? path_with_query ?? "").split("?", 1)[0]!,
      status,
      ...(failure === undefined ? {} : { failed: failure.failed, detail: failure.detail }),
      duration_ms: Math.round(performance.now() - startedAt),
    });
  }
}

/** The client went. A guest that works on its request is asked to stop; the runtime tells this at every end, too. */
function abandon(call: HttpCall): void {
  if (call.isOver || call.isDelivered) return;
  call.settle({ failed: "client_gone", detail: "the client went away" });
  call.cancel();
}

/** A request's head as the guest is to see it; the status that refuses it, when it is not in order. */
function readRequest(request: Request, maxBodyBytes: number): HttpRequestHead | number {
  const { method, headers, url } = request;
  if (!METHOD.test(method)) return 400;
  if (method === "CONNECT") return 405;
  const target = readTarget(url, headers.get("host"));
  if (target === undefined) return 400;
  if (target.path.length > MAX_PATH_BYTES) return 414;
  if (!PATH.test(target.path)) return 400;
  // Two ways to say where a body ends are a way to smuggle a request past somebody (RFC 9112 §6.1).
  const length = headers.get("content-length");
  if (length !== null && (headers.has("transfer-encoding") || !/^\d{1,15}$/.test(length))) return 400;
  if (Number(length ?? 0) > maxBodyBytes) return 413;
  const fields = passedFields([...headers]);
  const size = fields.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (fields.length > MAX_HEAD_FIELDS || size > MAX_HEAD_BYTES) return 431;
  if (!fields.every(([name, value]) => isHttpField(name, value))) return 400;
  return { method, scheme: target.scheme, authority: target.authority, path_with_query: target.path, headers: fields };
}

/** By hand and not by URL, so that the guest sees the path as it was sent, and a `Host` cannot become part of it. */
function readTarget(
  url: string,
  host: string | null,
): { readonly scheme: "http" | "https"; readonly authority: string; readonly path: string } | undefined {
  const [, scheme, rest] = /^(https?):\/\/(.*)$/s.exec(url) ?? [];
  if (scheme === undefined || rest === undefined) return undefined;
  if (host !== null && !AUTHORITY.test(host)) return undefined;
  const slash = rest.indexOf("/");
  const authority = slash < 0 ? rest : rest.slice(0, slash);
  if (!AUTHORITY.test(authority)) return undefined;
  return { scheme: scheme as "http" | "https", authority, path: slash < 0 ? "/" : rest.slice(slash) };
}

/** Without what one connection says of itself, and what its `Connection` field names. */
function passedFields(fields: readonly HttpField[]): HttpField[] {
  const named = fields.filter(([name]) => name.toLowerCase() === "connection")
    .flatMap(([, value]) => value.toLowerCase().split(",").map((word) => word.trim()));
  return fields.filter(([name]) => {
    const key = name.toLowerCase();
    return !HOP_BY_HOP.has(key) && !key.startsWith("x-boll-") && !named.includes(key);
  });
}

/** What a guest's head promises and nobody may send with it (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function guestResponse({ status, headers, pull }: CallResponse, call: HttpCall, asked: Headers): Response {
  const fields = new Headers();
  for (const [name, value] of passedFields(headers)) fields.append(name, value);
  keepBytes(fields, asked);
  if (WITHOUT_BODY.has(status) || call.input.head.method === "HEAD") {
    if (status === 204 || status === 205) fields.delete("content-length");
    drain(pull, call);
    return new Response(null, { status, headers: fields });
  }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = await pull().catch(rejectNextTurn);
      if (piece !== undefined) return controller.enqueue(piece);
      call.isDelivered = true;
      controller.close();
    },
    cancel: () => abandonBody(call),
  }, { highWaterMark: 0 });
  return new Response(body, { status, headers: fields });
}

/**
 * Deno compresses what has a compressible type and no encoding when the client takes one, in this process. A guest's
 * bytes leave as it wrote them; `identity` says what they are anyway (RFC 9110 §8.4.1).
 */
function keepBytes(fields: Headers, asked: Headers): void {
  if (asked.has("accept-encoding") && fields.has("content-type") && !fields.has("content-encoding")) {
    fields.set("content-encoding", "identity");
  }
}

/** Deno drops what it holds of a response that fails, be it the head: after one turn it has gone out. */
async function rejectNextTurn(error: unknown): Promise<never> {
  await new Promise<void>((resolve) => setTimeout(resolve));
  throw error;
}

/** A body that nobody gets is taken all the same, so that its guest comes to its end. */
async function drain(pull: CallResponse["pull"], call: HttpCall): Promise<void> {
  call.isDelivered = true;
  try {
    while (await pull() !== undefined);
  } catch { /* it broke off, and nobody misses it */ }
}

function abandonBody(call: HttpCall): void {
  if (!call.isOver) call.cancel();
}

/** A response of this program's own. */
function plainResponse(status: number): Response {
  const headers = new Headers({ "content-type": "text/plain; charset=utf-8" });
  if (status === 503) headers.set("retry-after", String(RETRY_AFTER_SECONDS));
  if (status === 405) headers.set("allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  return new Response(`${REASONS[status] ?? "Error"}\n`, { status, headers });
}
