/**
 * What the SDK serves by itself on Deno: its own request handler, store and dispatcher behind `Deno.serve`, with the same
 * work that does nothing: `sdk-server PORT`.
 * @module
 */
import { formatSSEEvent, SSE_HEADERS, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from "@a2a-js/sdk/server";

const port = Number(Deno.args[0]);

const executor: AgentExecutor = {
  execute({ taskId, contextId, userMessage }, bus) {
    const status = (state: TaskState) => ({ state, message: undefined, timestamp: new Date().toISOString() });
    const tell = (state: TaskState) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state), metadata: undefined }));
    bus.publish(AgentEvent.task({
      id: taskId,
      contextId,
      status: status(TaskState.TASK_STATE_SUBMITTED),
      artifacts: [],
      history: [userMessage],
      metadata: undefined,
    }));
    tell(TaskState.TASK_STATE_WORKING);
    const content = { $case: "text" as const, value: "Hello, world!" };
    const parts = [{ content, mediaType: "text/plain", filename: "", metadata: undefined }];
    const artifact = {
      artifactId: "answer",
      name: "answer",
      description: "",
      parts,
      metadata: undefined,
      extensions: [],
    };
    bus.publish(
      AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined }),
    );
    tell(TaskState.TASK_STATE_COMPLETED);
    return Promise.resolve();
  },
  cancelTask: () => Promise.resolve(),
};

const handler = new DefaultRequestHandler(
  {
    name: "hello",
    description: "Says hello",
    version: "1.0.0",
    supportedInterfaces: [
      { url: `http://127.0.0.1:${port}/`, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" },
    ],
    provider: undefined,
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [],
    signatures: [],
  },
  new InMemoryTaskStore(),
  executor,
);
const dispatcher = new JsonRpcTransportHandler(handler);
const encoder = new TextEncoder();

Deno.serve({
  hostname: "127.0.0.1",
  port,
  onListen: () => console.log(`listening on http://127.0.0.1:${port}`),
}, async (request) => {
  const answer = await dispatcher.handle(await request.json(), new ServerCallContext({ requestedVersion: "1.0" }));
  if (!(Symbol.asyncIterator in answer)) return Response.json(answer);
  const events = answer[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await events.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(formatSSEEvent(value)));
    },
  });
  return new Response(body, { headers: { ...SSE_HEADERS } });
});
