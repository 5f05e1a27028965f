import type { Intelligence } from "../../protocol/control/mod.ts";
import { boundedText, type LoopEvent, type LoopPorts, runTurn, type TurnEnd } from "../loop/mod.ts";
import type { FromLoop, LoopAsks, OpenModel, ThreadTurn } from "./loop_messages.ts";
import { type Model, openModel } from "../model/mod.ts";

/** The longest piece of text that is told at once, bytes. */
const MAX_PIECE_BYTES = 4_096;

/** How long pieces are gathered, ms. */
const GATHER_MS = 50;

/** Models that are open at once, beside the session's own. */
const MAX_OTHER_MODELS = 4;

/** The loop's side of its thread: the ports of a turn are questions to the main thread, all but its model. */
export class LoopThread {
  readonly #post: (message: FromLoop) => void;
  readonly #pending = new Map<number, (answer: unknown) => void>();
  readonly #others = new Map<string, Model>();
  #opened: OpenModel | undefined;
  #model: Model | undefined;
  #stop = new AbortController();
  #lastId = 0;

  constructor(post: (message: FromLoop) => void) {
    this.#post = post;
  }

  /** @throws `model.*` */
  async open(opened: OpenModel): Promise<void> {
    this.#opened = opened;
    this.#model = await this.#open(opened.intelligence);
  }

  /** Runs one turn. */
  async run({ input, tools, asksBudget }: ThreadTurn): Promise<TurnEnd> {
    this.#stop = new AbortController();
    let isDelegating = false;
    const pieces = new TextPieces((event) => this.#post({ kind: "event", event }));
    const ports: LoopPorts = {
      model: { call: async (request) => await (await this.#modelNamed(request.model)).call(request) },
      tools: {
        list: () => tools,
        call: async (call, signal) => {
          const answer = await this.#ask("call", call, signal);
          ({ isDelegating } = answer);
          return answer.reply;
        },
      },
      signal: this.#stop.signal,
      now: Date.now,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      boundary: async (state) => {
        if (await this.#ask("boundary", null) === "go") return;
        this.#post({ kind: "left", state });
        await new Promise<never>(() => {});
      },
      ...(asksBudget ? { budget: (estimate: number) => this.#ask("budget", estimate) } : {}),
      delegations: {
        get isOpen() {
          return isDelegating;
        },
        outcomes: async () => {
          const text = await this.#ask("outcomes", null);
          isDelegating = false;
          return text;
        },
      },
      emit: (event) => pieces.emit(event),
    };
    const end = await runTurn(input, ports);
    pieces.flush();
    this.#pending.clear();
    return end;
  }

  /** Tells the turn to end. */
  end(reason: string): void {
    this.#stop.abort(reason);
  }

  /** Takes the answer to a question; one that nobody waits for any more is dropped. */
  settle(id: number, answer: unknown): void {
    this.#pending.get(id)?.(answer);
    this.#pending.delete(id);
  }

  #ask<What extends keyof LoopAsks>(
    what: What,
    ask: LoopAsks[What]["ask"],
    signal?: AbortSignal,
  ): Promise<LoopAsks[What]["answer"]> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<LoopAsks[What]["answer"]>();
    this.#pending.set(id, resolve as (answer: unknown) => void);
    signal?.addEventListener("abort", () => {
      if (this.#pending.delete(id)) this.#post({ kind: "forget", id });
    }, { once: true });
    this.#post({ kind: "ask", id, asked: { what, ask } as never });
    return promise;
  }

  async #modelNamed(name: string | undefined): Promise<Model> {
    if (name === undefined || name === this.#opened!.intelligence.model) return this.#model!;
    const known = this.#others.get(name);
    if (known !== undefined) return known;
    const [oldest] = this.#others;
    if (oldest !== undefined && this.#others.size >= MAX_OTHER_MODELS) {
      oldest[1].close();
      this.#others.delete(oldest[0]);
    }
    const model = await this.#open({ ...this.#opened!.intelligence, model: name });
    this.#others.set(name, model);
    return model;
  }

  #open(intelligence: Intelligence): Promise<Model> {
    const { caCerts, proxy } = this.#opened!;
    return openModel(intelligence, {
      ...(intelligence.credential === undefined ? {} : { credential: intelligence.credential }),
      caCerts,
      ...(proxy === undefined ? {} : { proxy }),
      onHealth: (health) => this.#post({ kind: "health", health }),
    });
  }
}

/** Text as it comes is gathered into pieces; every other event stands in its place among them. */
class TextPieces {
  readonly #tell: (event: LoopEvent) => void;
  #text = "";
  /** Where it begins in the text of its round. */
  #at = 0;
  #round = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(tell: (event: LoopEvent) => void) {
    this.#tell = tell;
  }

  emit(event: LoopEvent): void {
    if (event.kind !== "text") {
      if (event.kind === "reset") this.#drop();
      else this.flush();
      return this.#tell(event);
    }
    this.#round = event.round;
    if (this.#text === "") this.#at = event.at;
    this.#text += event.text;
    while (this.#text.length >= MAX_PIECE_BYTES) this.#tellPiece();
    if (this.#text !== "") this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  flush(): void {
    while (this.#text !== "") this.#tellPiece();
    this.#drop();
  }

  #tellPiece(): void {
    const { text } = boundedText(this.#text, MAX_PIECE_BYTES);
    this.#text = this.#text.slice(text.length);
    this.#tell({ kind: "text", round: this.#round, at: this.#at, text });
    this.#at += text.length;
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#text = "";
  }
}
