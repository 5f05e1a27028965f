/** What of the door is not as usual. */
type Words = (text: string) => Record<string, unknown>;

/** Each way to say a text: as a task in some state, as a plain message, as an error, in the card, as no JSON at all. */
const HOSTILITIES = {
  completed: () => ({ state: "TASK_STATE_COMPLETED" }),
  failed: () => ({ state: "TASK_STATE_FAILED" }),
  rejected: () => ({ state: "TASK_STATE_REJECTED" }),
  asks: () => ({ state: "TASK_STATE_INPUT_REQUIRED" }),
  canceled: () => ({ state: "TASK_STATE_CANCELED" }),
  "unknown state": (text) => ({ state: text }),
  message: () => ({}),
  "no such task": (text) => ({ error: { code: -32001, message: text, data: [{ [text]: text }] } }),
  "not cancelable": (text) => ({ error: { code: -32002, message: text } }),
  "some error": (text) => ({ error: { code: -32603, message: text } }),
  "other code": (text) => ({ error: { code: text, message: { [text]: text } } }),
  "no json": (text) => ({ body: text }),
  "failing status": (text) => ({ body: text, status: 500 }),
  "other place": (text) => ({ place: `https://${text}/` }),
} as const satisfies Record<string, Words>;

/** How a hostile door says its text. */
export type Hostility = keyof typeof HOSTILITIES;

/** Every one of them. */
export const EVERY_HOSTILITY = Object.keys(HOSTILITIES) as readonly Hostility[];

/** An A2A agent that says `text` wherever it may say something. */
export class HostileDoor implements AsyncDisposable {
  readonly url: string;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  // deno-lint-ignore no-explicit-any
  readonly #words: any;

  constructor(hostility: Hostility, text: string) {
    this.#words = HOSTILITIES[hostility](text);
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => this.#answer(request, text),
    );
    this.url = `http://127.0.0.1:${this.#server.addr.port}/`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request, text: string): Promise<Response> {
    if (request.method === "GET") return Response.json(this.#card(text));
    const { id, method } = await request.json();
    const { body, status = 200, error, state } = this.#words;
    if (body !== undefined) return new Response(body, { status, headers: { "content-type": "application/json" } });
    const wrap = (value: object) => ({ jsonrpc: "2.0", id, ...value });
    if (method === "SendStreamingMessage" || method === "SubscribeToTask") {
      const events = error === undefined ? this.#events(text).map((result) => wrap({ result })) : [wrap({ error })];
      const stream = events.map((event) => `id: 1\ndata: ${JSON.stringify(event)}\n\n`).join("");
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    }
    if (error !== undefined) return Response.json(wrap({ error }));
    const task = taskOf(text, state);
    if (method === "ListTasks") return Response.json(wrap({ result: { tasks: [task], totalSize: 1, pageSize: 1 } }));
    if (method !== "SendMessage") return Response.json(wrap({ result: task }));
    return Response.json(wrap({ result: state === undefined ? { message: messageOf(text) } : { task } }));
  }

  #card(text: string): object {
    const { place = this.url } = this.#words;
    return {
      name: text,
      description: text,
      version: text,
      supportedInterfaces: [{ url: place, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: text }],
      capabilities: { streaming: true },
      defaultInputModes: [text],
      defaultOutputModes: [text],
      skills: [{ id: text, name: text, description: text, tags: [text] }],
    };
  }

  #events(text: string): object[] {
    const { state } = this.#words;
    if (state === undefined) return [{ message: messageOf(text) }];
    const ids = { taskId: text, contextId: text };
    const { artifacts, status, ...task } = taskOf(text, state);
    return [
      { task: { ...task, status: { state: "TASK_STATE_SUBMITTED" } } },
      { statusUpdate: { ...ids, status: { ...status, state: "TASK_STATE_WORKING" } } },
      ...artifacts.map((artifact) => ({ artifactUpdate: { ...ids, artifact, append: false, lastChunk: true } })),
      { statusUpdate: { ...ids, status } },
    ];
  }
}

function taskOf(text: string, state: string) {
  return {
    id: text,
    contextId: text,
    status: { state, message: messageOf(text) },
    artifacts: [
      { artifactId: "answer", name: "answer", parts: [{ text }] },
      { artifactId: text, name: text, parts: [{ raw: btoa("bytes"), filename: text, mediaType: text }] },
    ],
  };
}

function messageOf(text: string): object {
  return { messageId: text, contextId: text, role: "ROLE_AGENT", parts: [{ text }] };
}
