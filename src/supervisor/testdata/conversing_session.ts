/** A session that speaks the control protocol, and does beside what its first argument says. */
import { encodeFrame, FrameDecoder } from "../../protocol/mod.ts";

const [mode, args = "{}"] = Deno.args;
const say = (message: object) => Deno.stdout.writeSync(encodeFrame(message));
const event = (name: string, fields: object = {}) => say({ type: "event", event: name, fields });
const outcome = (result: unknown, status = "completed") => ({ status, partial: false, result });

const heard: string[] = [];
const turns: string[] = [];
let warm = false;
let paused = false;
let working = false;
let done = 0;

/** Works off one turn after the other, with a breath in between, as a model call would take. */
async function work(): Promise<void> {
  if (working) return;
  working = true;
  while (turns.length > 0 && !paused) {
    const turn = turns.shift()!;
    event("turn.think", { turn: done });
    await new Promise((resolve) => setTimeout(resolve, 20));
    done++;
    say({ type: "usage", input_tokens: 10, output_tokens: 1 });
    say({ type: "turn", outcome: outcome(`${done}: ${turn}`) });
  }
  working = false;
}

function finish(result: unknown, status?: string): never {
  say({ type: "result", outcome: outcome(result, status) });
  Deno.exit(0);
}

function hear(message: Record<string, unknown>): void {
  const type = String(message["type"]);
  if (type !== "ping") heard.push(type);
  switch (type) {
    case "ping":
      say({ type: "pong", seq: message["seq"] });
      break;
    case "spawn":
      warm = message["warm"] === true;
      if (mode === "payload") finish(message);
      say({ type: "ready" });
      if (warm) turns.push(String(message["instruction"]));
      if (mode === "ask") say({ type: "tool_request", id: 1, name: "slow", args: JSON.parse(args) });
      if (mode === "budget") say({ type: "budget_request", id: 1, estimate: 10 });
      if (mode === "gate") say({ type: "gate", node: "n", payload: { question: "go on?" } });
      if (mode === "flood") {
        for (let i = 0; i < (JSON.parse(args).events ?? 100_000); i++) {
          event("turn.round", { i });
        }
      }
      if (mode === "flood") finish("flooded");
      break;
    case "pause":
      paused = true;
      event("loop.paused");
      break;
    case "resume":
      paused = false;
      event("loop.resumed");
      if (mode === "hold") finish(heard);
      break;
    case "swap_intel":
      event("intel.swap", { uri: message["uri"] });
      break;
    case "cancel":
      finish(heard, "cancelled");
      break;
    case "inject":
      if (mode === "gate") {
        say({ type: "gate_closed", node: "n", via: "reply" });
        finish(message);
      }
      turns.push(String(message["message"]));
      break;
    case "tool_result":
    case "budget_grant":
      finish(message);
  }
  if (warm) work();
}

const decoder = new FrameDecoder();
const buffer = new Uint8Array(65_536);
while (true) {
  const count = await Deno.stdin.read(buffer);
  if (count === null) break;
  for (const message of decoder.push(buffer.subarray(0, count))) hear(message);
}
Deno.exit(3);
