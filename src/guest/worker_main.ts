/**
 * Entry of the guest's thread: one start message in, one report out. It holds no permission but the lists its cell
 * narrowed it to.
 * @module
 */
import { sharedReadAhead, type SymlinkPlace } from "../wasi/mod.ts";
import { HostCalls } from "./host_calls.ts";
import { runGuest } from "./run_guest.ts";
import {
  type FromGuest,
  type GuestStart,
  type ServeStart,
  SYMLINK_ANSWERS,
  type ToGuest,
  type ToolsStart,
} from "./worker_messages.ts";

interface WorkerScope {
  onmessage: ((event: MessageEvent) => unknown) | null;
  postMessage(message: FromGuest): void;
}

const scope = globalThis as unknown as WorkerScope;

scope.onmessage = async ({ data }: MessageEvent<GuestStart | ServeStart | ToolsStart>) => {
  if (isServeStart(data)) return await serveInThread(data);
  if (isToolsStart(data)) return await serveToolsInThread(data);
  const calls = new HostCalls((call) => scope.postMessage({ kind: "host_call", ...call }));
  const reads: (() => void)[] = []; // answered in the order they were asked for
  scope.onmessage = ({ data }: MessageEvent<ToGuest>) => {
    if (data.kind === "host_result") calls.settle(data);
    else if (data.kind === "delegation_end") calls.end(data);
    else if (data.kind === "read") reads.shift()?.();
  };
  const askForRead = () => {
    scope.postMessage({ kind: "read_ahead" });
    return new Promise<void>((resolve) => reads.push(resolve));
  };
  const report = await runGuest(data.load, data.loaded, {
    onDenied: (denial) => scope.postMessage({ kind: "denied", denial }),
    makeSymlink: (place) => askForSymlink(place, data.answer),
    resolve: (name) => calls.resolve(name),
    readAhead: sharedReadAhead(data.stdin, askForRead),
    delegate: (request) => calls.delegate(request),
  });
  scope.postMessage({ kind: "ended", ...report });
};
scope.postMessage({ kind: "up" });

function isServeStart(start: GuestStart | ServeStart | ToolsStart): start is ServeStart {
  return start.load.kind === "serve";
}

function isToolsStart(start: GuestStart | ToolsStart): start is ToolsStart {
  return start.load.kind === "tools";
}

async function serveToolsInThread({ load, loaded, answer }: ToolsStart): Promise<void> {
  const { ToolServer } = await import("./tool_server.ts");
  const calls = new HostCalls((call) => scope.postMessage({ kind: "host_call", ...call }));
  const server = new ToolServer(load, loaded, {
    onDenied: (denial) => scope.postMessage({ kind: "denied", denial }),
    makeSymlink: (place) => askForSymlink(place, answer),
    calls,
  }, (message) => scope.postMessage({ kind: "frame", message }));
  scope.onmessage = ({ data }: MessageEvent<ToGuest>) => {
    if (data.kind === "host_result") calls.settle(data);
    else if (data.kind === "delegation_end") calls.end(data);
    else if (data.kind === "frame") server.take(data.message);
  };
  scope.postMessage({ kind: "serving" });
}

async function serveInThread({ load, loaded, answer }: ServeStart): Promise<void> {
  const { HttpServer } = await import("./http_server.ts");
  const calls = new HostCalls((call) => scope.postMessage({ kind: "host_call", ...call }));
  const server = new HttpServer(load, loaded, {
    onDenied: (denial) => scope.postMessage({ kind: "denied", denial }),
    makeSymlink: (place) => askForSymlink(place, answer),
    resolve: (name) => calls.resolve(name),
  }, (message) => scope.postMessage({ kind: "frame", message }));
  scope.onmessage = ({ data }: MessageEvent<ToGuest>) => {
    if (data.kind === "host_result") calls.settle(data);
    else if (data.kind === "frame") server.take(data.message);
  };
  try {
    await server.warmUp();
    scope.postMessage({ kind: "serving" });
  } catch (error) {
    scope.postMessage({ kind: "serving", error: error instanceof Error ? error.message : String(error) });
  }
}

/** Asks the main thread, which alone may make links, and waits: the guest's call is synchronous. */
function askForSymlink(place: SymlinkPlace, shared: SharedArrayBuffer): void {
  const answer = new Int32Array(shared);
  Atomics.store(answer, 0, 0);
  scope.postMessage({ kind: "symlink", place });
  Atomics.wait(answer, 0, 0);
  const index = Atomics.load(answer, 0);
  if (index !== 1) throw SYMLINK_ANSWERS[index] ?? "io";
}
