/**
 * A model on loopback that plays a playbook over the real wires: `POST …/chat/completions` as OpenAI's, `POST …/messages`
 * as Anthropic's. It takes faults in their order, one for each request, and keeps what it was asked.
 *
 *     await using server = ModelServer.start({ turns: [{ text: "Hi" }], faults: ["500"] });
 *     const model = await openModel({ uri: server.url, model: "any", headers: [] });
 * @module
 */
import { parsePlaybook, type PlaybookTurn } from "../../src/agent/model/mod.ts";
import { newestWords, takeTurn } from "../../src/agent/model/scripted/scripted_model.ts";
import type { Msg } from "../../src/protocol/control/mod.ts";
import { eventsOf, readTranscript, type ServedDialect } from "./playbook.ts";
import { checkThoughts, type Thinking, thoughtBefore } from "./thinking.ts";

export type { ServedDialect } from "./playbook.ts";

/** What may go wrong with one request: those of the last line play the turn, the others leave it to the next request. */
export const FAULTS = [
  ...["401", "403", "400", "echo", "429", "429_long", "500", "redirect"],
  ...["cut", "silence", "mute", "huge", "endless", "no_sse", "empty", "bad_event", "error_event"],
  ...["half_character", "wrong_json", "no_usage", "none"],
] as const;
export type Fault = typeof FAULTS[number];

/** What a server is started with. */
export interface ModelServerOptions {
  /** The playbook's turns. */
  readonly turns?: readonly unknown[];
  readonly faults?: readonly Fault[];
  /** Where a redirect leads. */
  readonly redirectTo?: string;
  /** Characters in one event, default a few words. */
  readonly pieceLength?: number;
  /** It thinks before each answer, and takes no call back without what it thought. */
  readonly thinks?: Thinking;
  /** A certificate makes it speak TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Default any that is free. */
  readonly port?: number;
}

/** One request, as it came. */
export interface ModelServerRequest {
  readonly dialect: ServedDialect;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** The running server. */
export class ModelServer implements AsyncDisposable {
  readonly requests: ModelServerRequest[] = [];
  readonly #turns: (PlaybookTurn | undefined)[];
  readonly #faults: Fault[];
  readonly #redirectTo: string;
  readonly #thinks: Thinking | undefined;
  readonly #pieceLength: number | undefined;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #abort = new AbortController();
  readonly #scheme: string;

  private constructor(
    { turns = [], faults = [], redirectTo = "", thinks, pieceLength, tls, port = 0 }: ModelServerOptions,
  ) {
    this.#turns = [...parsePlaybook(JSON.stringify({ turns })).turns];
    this.#faults = [...faults];
    this.#redirectTo = redirectTo;
    this.#thinks = thinks;
    this.#pieceLength = pieceLength;
    this.#scheme = tls === undefined ? "http" : "https";
    const listen = { hostname: "127.0.0.1", port, signal: this.#abort.signal, onListen: () => {}, ...tls };
    this.#server = Deno.serve(listen, (request) => this.#answer(request)) as Deno.HttpServer<Deno.NetAddr>;
  }

  /** Starts one; its address is there at once. */
  static start(options: ModelServerOptions = {}): ModelServer {
    return new ModelServer(options);
  }

  /** What an agent's `uri` is, for both dialects. */
  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.#server.addr.port}/v1`;
  }

  /** More faults, after those that are left. */
  fail(...faults: Fault[]): void {
    this.#faults.push(...faults);
  }

  /** Breaks every connection off. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#server.finished;
  }

  async #answer(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    const dialect = path.endsWith("/chat/completions")
      ? "openai"
      : path.endsWith("/messages")
      ? "anthropic"
      : undefined;
    if (dialect === undefined || request.method !== "POST") return refuse(404, "not found");
    const body = await request.json().catch(() => undefined);
    this.requests.push({ dialect, path, headers: Object.fromEntries(request.headers), body });
    try {
      return await this.#play(dialect, body, this.#faults.shift() ?? "none");
    } catch (error) {
      return refuse(400, error instanceof Error ? error.message : "bad request");
    }
  }

  async #play(dialect: ServedDialect, body: unknown, fault: Fault): Promise<Response> {
    const refused = this.#refusalOf(fault);
    if (refused !== undefined) return refused;
    if (fault === "mute") {
      await this.#wait(Infinity);
      return refuse(503, "mute");
    }
    const messages = readTranscript(dialect, body);
    if (this.#thinks !== undefined) checkThoughts(dialect, body, this.#thinks);
    if (fault === "endless") return stream(endlessEvents(dialect));
    const turn = this.#turnFor(messages, fault);
    if (turn.delay_ms > 0) await this.#wait(turn.delay_ms);
    const callsBefore = messages.reduce(
      (sum, message) => sum + (message.role === "assistant" ? message.tool_calls.length : 0),
      0,
    );
    const events = eventsOf(dialect, turn, {
      model: (body as { model?: string }).model ?? "",
      callsBefore,
      withoutUsage: fault === "no_usage",
      ...(this.#pieceLength === undefined ? {} : { pieceLength: this.#pieceLength }),
      ...(this.#thinks === undefined ? {} : { thought: thoughtBefore(`call_${callsBefore + 1}`, this.#thinks) }),
    });
    const bytes = events.map((event) => new TextEncoder().encode(event));
    const begun = bytes.slice(0, Math.ceil(events.length / 2));
    if (fault === "cut") return stream(begun, "error");
    if (fault === "silence") return stream(begun, "hang");
    if (fault === "half_character") return stream(bytes.flatMap(splitCharacters));
    if (fault === "bad_event") {
      return stream([...begun, new TextEncoder().encode('data: {"choices": 1}\n\n'), ...bytes]);
    }
    if (fault === "error_event") return stream([...begun, new TextEncoder().encode(errorEvent(dialect))]);
    return stream(bytes);
  }

  /** Ends with the server. */
  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === Infinity ? undefined : setTimeout(resolve, ms);
      this.#abort.signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
  }

  /** The turn is played only when its answer is whole. */
  #turnFor(messages: readonly Msg[], fault: Fault): PlaybookTurn {
    const isWhole = ["half_character", "wrong_json", "no_usage", "none"].includes(fault);
    const turn = takeTurn(isWhole ? this.#turns : [...this.#turns], newestWords(messages));
    if (fault !== "wrong_json") return turn;
    const broken = turn.tool_calls.map(({ name, arguments: written }) => ({
      name,
      arguments: JSON.stringify(written).slice(0, -1),
    }));
    return { ...turn, tool_calls: broken.length > 0 ? broken : [{ name: "broken", arguments: '{"a": ' }] };
  }

  #refusalOf(fault: Fault): Response | undefined {
    switch (fault) {
      case "401":
      case "403":
      case "400":
      case "500":
        return refuse(Number(fault), `refused with ${fault}`);
      case "echo": {
        const { authorization, "x-api-key": key } = this.requests.at(-1)!.headers;
        return refuse(400, `You sent ${authorization ?? key}`);
      }
      case "429":
        return refuse(429, "slow down", { "retry-after": "2" });
      case "429_long":
        return refuse(429, "slow down", { "retry-after": "3600" });
      case "redirect":
        return new Response(null, { status: 307, headers: { location: this.#redirectTo } });
      case "no_sse":
        return new Response("<html><body>Welcome</body></html>", { headers: { "content-type": "text/html" } });
      case "empty":
        return stream([new TextEncoder().encode("hello\n\n: nothing\n\n")]);
      case "huge":
        return new Response(new ReadableStream({ pull: hugeBody() }), {
          headers: { "content-type": "text/event-stream" },
        });
      default:
        return undefined;
    }
  }
}

function refuse(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status, headers });
}

/** The body: its chunks one by one, then its end, a break or nothing any more. */
function stream(chunks: Iterable<Uint8Array>, then: "close" | "error" | "hang" = "close"): Response {
  const iterator = chunks[Symbol.iterator]();
  const body = new ReadableStream({
    async pull(controller) {
      const { value, done } = iterator.next();
      // A turn of the loop for each, so that they arrive as they are.
      await new Promise((resolve) => setTimeout(resolve));
      if (!done) controller.enqueue(value);
      else if (then === "close") controller.close();
      else if (then === "error") controller.error(new Error("cut"));
      else await new Promise(() => {});
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Each character of several bytes as two chunks. */
function splitCharacters(bytes: Uint8Array): Uint8Array[] {
  const cuts = [...bytes.keys()].filter((i) => (bytes[i]! & 0xc0) === 0x80 && (bytes[i - 1]! & 0xc0) === 0xc0);
  return [0, ...cuts].map((from, i) => bytes.slice(from, cuts[i] ?? bytes.length));
}

function* endlessEvents(dialect: ServedDialect): Generator<Uint8Array> {
  const turn = { text: "again and again ".repeat(10_000), tool_calls: [], delay_ms: 0 };
  const events = eventsOf(dialect, turn, { model: "endless", callsBefore: 0, pieceLength: 8_000 });
  const middle = dialect === "openai" ? 1 : 3;
  const encode = (part: string[]) => new TextEncoder().encode(part.join(""));
  yield encode(events.slice(0, middle));
  for (;;) yield encode(events.slice(middle, middle + 20));
}

/** 100 MB of what might yet become an event. */
function hugeBody(): (controller: ReadableStreamDefaultController<Uint8Array>) => void {
  const chunk = new Uint8Array(1_000_000).fill(0x20);
  let left = 100;
  return (controller) => left-- > 0 ? controller.enqueue(chunk) : controller.close();
}

function errorEvent(dialect: ServedDialect): string {
  const error = { type: "overloaded_error", message: "Overloaded" };
  return dialect === "openai"
    ? `data: ${JSON.stringify({ error })}\n\n`
    : `event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`;
}
