import type { AgentCard } from "@a2a-js/sdk";
import { CARD_PATH, cardReply, REST_PATH } from "./a2a/agent_card.ts";
import type { Call, CallError, Calls } from "./a2a/calls.ts";
import {
  BodyFault,
  type HttpReply,
  type HttpRequest,
  jsonReply,
  refusalReply,
  textReply,
} from "./http/http_message.ts";
import { type Caller, identify } from "./identify.ts";
import { type JsonBody, parseJsonBody } from "./a2a/json_body.ts";
import { answerJsonRpc, busyReply, rpcError } from "./a2a/json_rpc.ts";
import { isNotice, judgeNotice } from "./judge_notice.ts";
import type { DoorLimits } from "./limits.ts";
import type { RouteName } from "./metrics.ts";
import type { CompletionReceiver, Credentials } from "./options.ts";
import type { DoorPlaces } from "./places.ts";
import { ReplyRoom } from "./reply_room.ts";
import { answerRest, restError, type RestRoute, restRoute } from "./a2a/rest.ts";

/** What a front desk needs to know. */
export interface FrontDeskOptions {
  readonly places: DoorPlaces;
  readonly card: AgentCard;
  /** When the door was opened, ms since the epoch. */
  readonly openedMs: number;
  readonly calls: Calls;
  readonly limits: DoorLimits;
  credentials(): Credentials;
  readonly completions: CompletionReceiver | undefined;
  /** Whether this process has been at it lately. */
  isAlive(): boolean;
  /** Why it can take no work now. */
  unready(): string | undefined;
  metrics(): string;
  onCompletion(delegationId: string, refused?: string): void;
  onServed(route: RouteName, status: number): void;
}

/** Where a request goes, before anybody has looked at who sends it. */
type Desk = { readonly name: Exclude<RouteName, "rpc" | "rest"> } | BindingDesk;
type BindingDesk = { readonly name: "rpc" } | { readonly name: "rest"; readonly route: RestRoute };

type CallFrom = Pick<Call, "request" | "caller" | "hold">;

const TYPES: ReadonlySet<string> = new Set(["application/json", "application/a2a+json"]);
/**
 * Everybody comes by here: first where the request says it was sent to and from, then who sends it, then its body. What is
 * refused is refused before the next thing is looked at.
 */
export class FrontDesk {
  readonly #options: FrontDeskOptions;
  readonly #room: ReplyRoom;
  #underWay = 0;
  #large = 0;

  constructor(options: FrontDeskOptions) {
    this.#options = options;
    this.#room = new ReplyRoom(options.limits);
  }

  /** Requests that are being answered. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Bytes of large answers that wait for their clients to take them. */
  get replyBytes(): number {
    return this.#room.bytes;
  }

  /** Answers one request. Never rejects. */
  async handle(request: HttpRequest): Promise<HttpReply> {
    const desk = deskOf(request);
    const reply = await this.#admit(request, desk).catch(failureReply);
    this.#options.onServed(desk.name, reply.status);
    return reply;
  }

  async #admit(request: HttpRequest, desk: Desk): Promise<HttpReply> {
    const refusal = this.#refusePlace(request);
    if (refusal !== undefined) return refusal;
    if (desk.name === "card" || desk.name === "healthz" || desk.name === "readyz") {
      return this.#answerPublic(desk.name, request);
    }
    if (desk.name === "completion") return await this.#answerCompletion(request);
    const caller = identify(request, this.#options.credentials());
    if (caller === undefined) return unauthenticated();
    request.vouch();
    if (desk.name === "metrics") return textReply(200, this.#options.metrics(), "text/plain; version=0.0.4");
    if (desk.name === "rpc" || desk.name === "rest") return await this.#serve(request, desk, caller);
    return refusalReply(404, "not_found");
  }

  /** A name that was made to point here, or a page of elsewhere. */
  #refusePlace(request: HttpRequest): HttpReply | undefined {
    const { places } = this.#options;
    if (!places.isHost(request.header("host") ?? "")) return refusalReply(421, "unknown_host");
    const origin = request.header("origin");
    if (origin !== undefined && !places.isOrigin(origin)) return refusalReply(403, "foreign_origin");
    const site = request.header("sec-fetch-site");
    const isForeign = site !== undefined && site !== "same-origin" && site !== "none";
    return isForeign ? refusalReply(403, "foreign_origin") : undefined;
  }

  #answerPublic(name: "card" | "healthz" | "readyz", request: HttpRequest): HttpReply {
    if (name === "card") return cardReply(this.#options.card, request, this.#options.openedMs);
    const reason = name === "readyz" ? this.#options.unready() : undefined;
    if (reason !== undefined) return jsonReply(503, { status: "unavailable", reason });
    return name === "readyz" || this.#options.isAlive()
      ? jsonReply(200, { status: "ok" })
      : jsonReply(503, { status: "stalled" });
  }

  /** By its headers alone: what its body says is read again from the record. */
  async #answerCompletion(request: HttpRequest): Promise<HttpReply> {
    const { completions, limits, onCompletion } = this.#options;
    const receiver = completions ?? { sessionId: "", isWaiting: () => false, onCompletion: () => {} };
    const verdict = judgeNotice({ get: (name) => request.header(name) ?? null }, receiver);
    const body = parseJsonBody(await request.readBody(limits.completionBytes));
    const id = body.ok ? idOf(body.value) : null;
    if (verdict.kind === "refused") {
      onCompletion("", verdict.message);
      return rpcError(id, { code: verdict.code, message: verdict.message });
    }
    onCompletion(verdict.delegationId);
    receiver.onCompletion(verdict.delegationId);
    const message = { messageId: verdict.delegationId, role: "ROLE_AGENT", parts: [{ text: "noted" }] };
    return jsonReply(200, { jsonrpc: "2.0", id, result: { message } });
  }

  async #serve(request: HttpRequest, desk: BindingDesk, caller: Caller): Promise<HttpReply> {
    const { limits } = this.#options;
    const isLarge = (request.bodyBytes ?? Infinity) > limits.largeBodyBytes;
    if (this.#underWay >= limits.requests) return busyReply("Take a request: too many are under way");
    if (isLarge && this.#large >= limits.largeBodies) {
      return busyReply("Take a request: too many large ones are under way");
    }
    this.#underWay++;
    if (isLarge) this.#large++;
    let isStreaming = false;
    const isWelcome = this.#welcome(request);
    const hold = this.#room.open(caller);
    const onGone = () => hold.release();
    try {
      const reply = await this.#call(desk, { request, caller, hold }, isWelcome);
      if (!isWelcome()) return { ...unauthenticated(), onGone };
      if (reply.body instanceof Uint8Array) {
        hold.settle(reply.body.length);
        return { ...reply, onGone };
      }
      isStreaming = true;
      const { body } = reply;
      const told = (write: (bytes: Uint8Array) => Promise<void>) =>
        body((bytes) => isWelcome() ? write(bytes) : Promise.reject(new Error("Its token was revoked")));
      return { ...reply, onGone, body: (write) => told(write).finally(() => this.#underWay--) };
    } finally {
      if (!isStreaming) this.#underWay--;
      if (isLarge) this.#large--;
    }
  }

  /** Whether its sender may still be here: a token that was revoked ends what it began. */
  #welcome(request: HttpRequest): () => boolean {
    let known = this.#options.credentials();
    let isWelcome = true;
    return () => {
      const now = this.#options.credentials();
      if (now !== known) isWelcome &&= identify(request, now) !== undefined;
      known = now;
      return isWelcome;
    };
  }

  async #call(desk: BindingDesk, from: CallFrom, isWelcome: () => boolean): Promise<HttpReply> {
    const { calls, limits } = this.#options;
    const { request } = from;
    const [type = ""] = (request.header("content-type") ?? "none").split(";", 1);
    if (request.hasBody && !TYPES.has(type.trim().toLowerCase())) {
      const error = unsupportedType(type.trim());
      return desk.name === "rpc" ? rpcError(null, error) : restError(error);
    }
    const bytes = await request.readBody(limits.bodyBytes);
    if (!isWelcome()) return unauthenticated();
    const parts = { ...from, calls };
    if (desk.name === "rpc") return await answerJsonRpc(parseJsonBody(bytes), parts);
    const body: JsonBody | undefined = desk.route.takesBody ? parseJsonBody(bytes) : undefined;
    return await answerRest(desk.route, body, parts);
  }
}

function deskOf(request: HttpRequest): Desk {
  const { method, path } = request;
  const isGet = method === "GET" || method === "HEAD";
  if (isGet && path === CARD_PATH) return { name: "card" };
  if (isGet && path === "/healthz") return { name: "healthz" };
  if (isGet && path === "/readyz") return { name: "readyz" };
  if (isGet && path === "/metrics") return { name: "metrics" };
  if (method === "POST" && path === "/") {
    return { name: isNotice({ get: (name) => request.header(name) ?? null }) ? "completion" : "rpc" };
  }
  const route = path.startsWith(`${REST_PATH}/`) ? restRoute(request) : undefined;
  return route === undefined ? { name: "other" } : { name: "rest", route };
}

function unauthenticated(): HttpReply {
  return refusalReply(401, "unauthenticated", undefined, [["www-authenticate", 'Bearer realm="boll"']]);
}

function unsupportedType(found: string): CallError {
  return {
    code: -32005,
    message: `Read a request: found content-type ${found.slice(0, 64)}, wanted application/json`,
    data: [{
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "CONTENT_TYPE_NOT_SUPPORTED",
      domain: "a2a-protocol.org",
    }],
  };
}

function idOf(value: unknown): string | number | null {
  const id = (value as { id?: unknown } | null)?.id;
  return typeof id === "string" || typeof id === "number" ? id : null;
}

function failureReply(error: unknown): HttpReply {
  if (!(error instanceof BodyFault)) return refusalReply(500, "internal");
  if (error.kind === "too_large") return refusalReply(413, "body_too_large", `Read a request: ${error.message}`);
  return refusalReply(400, "bad_request", `Read a request: ${error.message}`);
}
