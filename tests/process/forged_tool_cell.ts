/**
 * A process in place of a cell of tools, which says what no cell would; what it does is its argument.
 * @module
 */
import { encodeFrame, encodeToolText, FrameDecoder, MAX_TOOL_TEXT_BYTES } from "../../src/protocol/mod.ts";

const [mode] = Deno.args;
const say = (message: object) => {
  const frame = encodeFrame(message);
  for (let at = 0; at < frame.length;) at += Deno.stdout.writeSync(frame.subarray(at));
};
const answer = (id: number) => say({ type: "done", id, value: { ok: true, text: encodeToolText("honest") } });
const hostCall = (id: number, name: string, args: object) =>
  say({ type: "host_call", id, name, args: { call: 2, ...args } });

const DESCRIPTION = { name: "forged", description: "d", input_schema: '{"type":"object"}', mutates: false };

const CALLED: Record<string, (id: number) => void> = {
  honest: answer,
  "no-base64": (id) => say({ type: "done", id, value: { ok: true, text: "?" } }),
  "no-text": (id) => say({ type: "done", id, value: { ok: true, text: "/w==" } }),
  "too-long": (id) => {
    say({ type: "done", id, value: { ok: true, text: "A".repeat(4 * Math.ceil((MAX_TOOL_TEXT_BYTES + 3) / 3)) } });
  },
  "other-call": (id) => {
    answer(id + 1_000);
    say({ type: "log", id: 99, stream: "stderr", text: "of nobody" });
    hostCall(1, "log", { call: 99, level: "info", text: "of nobody" });
    answer(id);
    answer(id);
  },
  flood: (id) => {
    for (let at = 0; at < 5_000; at++) {
      hostCall(at, "emit", { text: "word" });
      say({ type: "denied", wall: 1, grant: "fs", asked: "open /x", allow: "--mount" });
    }
    answer(id);
  },
  asks: (id) => {
    for (let at = 0; at < 500; at++) hostCall(at, "request-input", { question: "well?" });
    setTimeout(() => answer(id), 300);
  },
  // Asks while its call is open, and again when it is told that nobody waits any more.
  "goes-on": (id) => ask(id, 1),
  dies: () => Deno.exit(3),
};

function ask(call: number, id: number): void {
  hostCall(id, "emit", { call, text: "word" });
  hostCall(id, "log", { call, level: "info", text: "word" });
  hostCall(id + 1, "request-input", { call, question: "well?" });
  say({ type: "host_call", id: id + 2, name: "delegate", args: { capsule: "worker", task: "", mounts: [] }, call });
  say({ type: "host_call", id: id + 3, name: "delegate", args: { capsule: "worker", task: "", mounts: [] } });
}

const decoder = new FrameDecoder();
for await (const bytes of Deno.stdin.readable) {
  for (const message of decoder.push(bytes)) {
    if (message["type"] === "load") {
      say({ type: "ready", walls: { landlock: true, seccomp: true, abi: 7, worker: false } });
      continue;
    }
    if (mode === "goes-on" && message["type"] === "cancel") ask(Number(message["id"]), 11);
    if (message["type"] === "host_result") {
      const { id, value, error } = message;
      say({ type: "log", id: 0, stream: "stdout", text: JSON.stringify({ id, value, error }) });
      if (id === 14) answer(2);
    }
    if (message["type"] !== "call") continue;
    const id = Number(message["id"]);
    if (message["input"] !== undefined) CALLED[mode!]!(id);
    else {
      const words = mode === "described" ? { description: "x".repeat(1_000_000) } : {};
      say({ type: "done", id, value: { ...DESCRIPTION, ...words } });
    }
  }
}
