/**
 * A capsule behind its door: `boll serve`, asked over the wire as any client would, and nothing of the door's own code.
 */
import { join } from "@std/path";
import type { Bed, RunningBoll, TraceEvent } from "../harness.ts";
import { childrenOf } from "../processes.ts";
import { warmGuest } from "../warm_cache.ts";

/** A task as the wire has it. */
export interface WireTask {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly message?: { readonly parts: readonly { text?: string }[] } };
  readonly artifacts?: readonly WireArtifact[];
}

interface WireArtifact {
  readonly name?: string;
  readonly parts: readonly { readonly text?: string; readonly raw?: string; readonly mediaType?: string }[];
}

/** Options of {@link serve}. */
export interface ServeOptions {
  readonly flags?: readonly string[];
  readonly grants?: Record<string, unknown>;
  /** The capsule's folder or component; default the probe, whose task is the JavaScript that it runs. */
  readonly capsule?: string;
  /** After this time it is killed; default a minute. */
  readonly safetyNetMs?: number;
}

/** A capsule whose task is the JavaScript that it runs; what that gives is printed as JSON. */
export async function servedProbe(
  bed: Bed,
  grants: Record<string, unknown> = { fs: { work: "rw" } },
  probe = "probe",
): Promise<string> {
  const folder = bed.folder("served");
  Deno.copyFileSync(await warmGuest(bed, probe), join(folder, "guest.wasm"));
  const manifest = {
    name: "served",
    version: "0.1.0",
    description: "Runs what it is told.",
    component: "guest.wasm",
    args: ["return eval(readStdin())"],
    grants,
  };
  Deno.writeTextFileSync(join(folder, "capsule.jsonc"), JSON.stringify(manifest));
  return folder;
}

/** Starts serving and comes back when the door is open. */
export async function serve(
  bed: Bed,
  { flags = [], grants, capsule, safetyNetMs }: ServeOptions = {},
): Promise<Served> {
  const path = capsule ?? await servedProbe(bed, grants);
  const net = safetyNetMs === undefined ? {} : { safetyNetMs };
  const running = bed.start(["serve", path, "--accept", "--json", ...flags], net);
  const line = await running.stdout.waitFor("}\n").catch(async (error) => {
    throw new Error(`${error.message}; stderr: ${(await running.result()).stderr}`);
  });
  return new Served(bed, running, JSON.parse(line.trim().split("\n").at(-1)!));
}

/** A door that is open. */
export class Served {
  readonly running: RunningBoll;
  readonly url: string;
  readonly sessionId: string;
  /** The owner's; absent at an open door. */
  readonly token: string | undefined;
  readonly #bed: Bed;
  readonly #client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  #messages = 0;

  constructor(bed: Bed, running: RunningBoll, ready: Record<string, string>) {
    this.#bed = bed;
    this.running = running;
    this.url = ready["serving"]!;
    this.sessionId = ready["session_id"]!;
    this.token = ready["token"];
  }

  get pid(): number {
    return this.running.child.pid;
  }

  /** The session process. */
  get sessionPid(): number {
    const [session] = childrenOf(this.pid);
    if (session === undefined) throw new Error("Find the session: the supervisor has no child");
    return session;
  }

  /** What comes back of a call; its status when that is no 200. */
  async call(
    method: string,
    params: object,
    token: string | null = this.token ?? null,
    headers: Record<string, string> = {},
  ): Promise<Record<string, unknown>> {
    const response = await fetch(this.url, {
      client: this.#client,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "a2a-version": "1.0",
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const body = await response.json();
    return response.ok ? body : { status: response.status, ...body };
  }

  /** A task that has ended. */
  async send(text: string, token: string | null = this.token ?? null): Promise<WireTask> {
    return await this.#send(text, false, token);
  }

  /** A task that was accepted; the owner's unless another sends it. */
  async submit(text: string, token: string | null = this.token ?? null, headers = {}): Promise<WireTask> {
    return await this.#send(text, true, token, headers);
  }

  async get(id: string): Promise<WireTask> {
    return (await this.call("GetTask", { id }))["result"] as WireTask;
  }

  async cancel(id: string): Promise<WireTask> {
    return (await this.call("CancelTask", { id }))["result"] as WireTask;
  }

  /** Waits until a task is in that state; the door is asked again and again. */
  async until(id: string, state: string): Promise<WireTask> {
    for (;;) {
      const task = await this.get(id);
      if (task.status.state === state) return task;
      if (isOver(task)) throw new Error(`Wait for ${state}: ${id} ended as ${JSON.stringify(task.status)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Waits for the end of a task. */
  async ended(id: string): Promise<WireTask> {
    for (;;) {
      const task = await this.get(id);
      if (isOver(task)) return task;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Waits until so many tasks are there. */
  async untilListed(count: number): Promise<void> {
    for (let found = 0; found < count;) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      found = ((await this.call("ListTasks", {}))["result"] as { tasks: unknown[] }).tasks.length;
    }
  }

  /** Waits until the guest's stderr holds a text. */
  async untilLogged(text: string): Promise<void> {
    const path = join(this.folder, "runtime", "logs", "stderr.log");
    for (let found = ""; !found.includes(text);) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      try {
        found = Deno.readTextFileSync(path);
      } catch { /* not there yet */ }
    }
  }

  /** The session's folder. */
  get folder(): string {
    return join(this.#bed.home, "sessions", this.sessionId);
  }

  get trace(): TraceEvent[] {
    const text = Deno.readTextFileSync(join(this.folder, "records", "trace.jsonl"));
    return text.trimEnd().split("\n").map((line) => JSON.parse(line));
  }

  /** Ends it as a person would, and gives its exit status. */
  async stop(): Promise<number> {
    this.running.child.kill("SIGINT");
    return await this.over();
  }

  /** Waits for its end. */
  async over(): Promise<number> {
    const { code } = await this.running.result();
    this.close();
    return code;
  }

  /** The client's own connections. */
  close(): void {
    this.#client.close();
  }

  async #send(text: string, returnImmediately: boolean, token: string | null, headers = {}): Promise<WireTask> {
    const message = { messageId: `m-${++this.#messages}-${Math.random()}`, role: "ROLE_USER", parts: [{ text }] };
    const answer = await this.call("SendMessage", { message, configuration: { returnImmediately } }, token, headers);
    const { task } = (answer["result"] ?? {}) as { task?: WireTask };
    if (task === undefined) throw new Error(`Send: ${JSON.stringify(answer)}`);
    return task;
  }
}

/** The text of the artifact of that name. */
export function textOf(task: WireTask, name = "answer"): string | undefined {
  const part = task.artifacts?.find((artifact) => artifact.name === name)?.parts[0];
  return part?.text ?? (part?.raw === undefined ? undefined : atob(part.raw));
}

/** Why it ended so. */
export function reasonOf({ status }: WireTask): string {
  return status.message?.parts.map(({ text }) => text ?? "").join("\n") ?? "";
}

export function isOver({ status }: WireTask): boolean {
  return /COMPLETED|FAILED|CANCELED|REJECTED/.test(status.state);
}
