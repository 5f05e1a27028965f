/** One answer over OpenAI's wire, with nothing checked: names, arguments and their number are as they are given. */
export interface RawAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: unknown; readonly arguments: unknown; readonly id?: unknown }[];
  readonly usage?: unknown;
  readonly finish?: string;
}

/** A model on loopback that says what no provider would: its answers one after the other, the last one for ever. */
export class RawModel implements AsyncDisposable {
  // deno-lint-ignore no-explicit-any
  readonly requests: any[] = [];
  readonly #answers: readonly RawAnswer[];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(answers: readonly RawAnswer[]) {
    this.#answers = answers;
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
      const answer = this.#answers[Math.min(this.requests.push(await request.json()), this.#answers.length) - 1]!;
      return new Response(eventsOf(answer), { headers: { "content-type": "text/event-stream" } });
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}/v1`;
  }

  /** What it was last shown, without the system's word. */
  get shown(): { readonly role: string; readonly content: string | null }[] {
    return this.requests.at(-1).messages.slice(1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

function eventsOf({ text, calls = [], usage, finish }: RawAnswer): string {
  const chunk = (choices: unknown[], more = {}) =>
    `data: ${
      JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "raw", choices, ...more })
    }\n\n`;
  const told = calls.map(({ name, arguments: args, id }, index) => ({
    index,
    id: id ?? `call_${index}`,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  }));
  const reason = finish ?? (calls.length > 0 ? "tool_calls" : "stop");
  return [
    ...(text === undefined ? [] : [chunk([{ index: 0, delta: { role: "assistant", content: text } }])]),
    ...told.map((call) => chunk([{ index: 0, delta: { tool_calls: [call] } }])),
    chunk([{ index: 0, delta: {}, finish_reason: reason }]),
    ...(usage === undefined ? [] : [chunk([], { usage })]),
    "data: [DONE]\n\n",
  ].join("");
}
