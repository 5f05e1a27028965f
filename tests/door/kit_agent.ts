/**
 * The agent that the official compatibility kit (a2aproject/a2a-tck, branch 1.0-dev) tests the door with: it does what the
 * prefix of a message's id asks for, as the kit's `scenarios/*.feature` say. `docs/conformance.md` says how to run the kit.
 *
 * ```sh
 * deno run -A tests/door/kit_agent.ts 9999   # prints its address
 * ```
 *
 * @module
 */
import { type DoorTask, type DoorWork, openDoor, type TaskEnd, type TaskVoice } from "../../src/door/mod.ts";

/** Twice the kit's default streaming timeout, ms. */
const LONG_MS = 4_000;

/** Many of the kit's tests leave their question unanswered, and others wait behind it, ms. */
const PATIENCE_MS = 1_500;

const text = new TextEncoder().encode("Generated file content");

type Scenario = (task: DoorTask, voice: TaskVoice) => TaskEnd | Promise<TaskEnd>;

const done = (answer?: string): TaskEnd => ({ state: "completed", ...(answer !== undefined && { answer }) });

/** Prefix of the message's id → what is done. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "tck-complete-task": () => done("Hello from TCK"),
  "tck-artifact-text": () => done("Generated text content"),
  "tck-artifact-file-url": (_, voice) => {
    voice.artifact({ name: "output.txt", mediaType: "text/plain", url: "https://example.com/output.txt" });
    return done();
  },
  "tck-artifact-file": (_, voice) => {
    voice.artifact({ name: "output.txt", mediaType: "text/plain", bytes: text });
    return done();
  },
  "tck-artifact-data": (_, voice) => {
    voice.artifact({ name: "data", data: { key: "value", count: 42 } });
    return done();
  },
  "tck-input-required": async (_, voice) => {
    let answer: string;
    do ({ text: answer } = await voice.ask("What else?", PATIENCE_MS)); while (
      answer.startsWith("TCK history message")
    );
    return done(answer);
  },
  "tck-reject-task": () => ({ state: "rejected", reason: "rejected" }),
  "tck-stream-001": () => done("Stream hello from TCK"),
  "tck-stream-002": () => done(),
  "tck-stream-003": () => done("Stream task lifecycle"),
  "tck-stream-ordering-001": () => done("Ordered output"),
  "tck-stream-artifact-text": () => done("Streamed text content"),
  "tck-stream-artifact-file": (_, voice) => {
    voice.artifact({ name: "output.txt", mediaType: "text/plain", bytes: text });
    return done();
  },
  "tck-stream-artifact-chunked": (_, voice) => {
    voice.output("chunk-1 ");
    return done("chunk-1 chunk-2");
  },
  "test-resubscribe-message-id": async ({ signal }) => {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LONG_MS);
      signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
    return signal.aborted ? { state: "canceled" } : done();
  },
};

/** Does what the longest prefix that fits says; any other message is answered with its text. */
export const kitWork: DoorWork = {
  run: async (task, voice) => {
    const [prefix] = Object.keys(SCENARIOS).filter((prefix) => task.messageId.startsWith(prefix))
      .sort((a, b) => b.length - a.length);
    return await (prefix === undefined ? done(task.text) : SCENARIOS[prefix]!(task, voice));
  },
};

if (import.meta.main) {
  const door = await openDoor({
    listen: { hostname: "127.0.0.1", port: Number(Deno.args[0] ?? 0) },
    names: ["localhost"],
    // Of all media types: the kit's CORE-SEND-003 counts the refusal that it asks for as a failure.
    card: {
      name: "kit-agent",
      description: "Acts on the kit's message ids",
      version: "1.0.0",
      skills: [],
      inputModes: ["text/plain", "*/*"],
    },
    work: kitWork,
    credentials: { isOpen: true, peers: [] },
    accept: "queue",
    queueDepth: 256,
    storage: { kind: "memory" },
    isIdempotent: false,
    record: () => {},
  });
  console.log(door.url);
  await door.done;
}
