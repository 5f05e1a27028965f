import { type Completion, writeCompletion } from "./completion.ts";

/** A record as a child writes it. */
export const COMPLETION: Completion = {
  delegation_id: "dlg_01890000000070008000000000000001",
  capsule_name: "worker",
  capsule_version: "0.1.0",
  session_id: "ses_01890000000070008000000000000002",
  status: "ok",
  workdir: "/work/w",
  duration_ms: 42,
  reported_by: "child",
  delivered: false,
};

/** A record of 64 KiB and more, the `n`th: which one a reader sees is told by every part of it. */
export function largeCompletion(n: number): Completion {
  return { ...COMPLETION, duration_ms: n, workdir: `/${String.fromCharCode(97 + n % 26).repeat(64 * 1024)}` };
}

/** In a worker: rewrites the record at the path it is sent, 400 times, from a process that only does that. */
function rewrite({ data: path }: MessageEvent<string>): void {
  for (let n = 1; n <= 400; n++) writeCompletion({ completion: path }, largeCompletion(n));
  (globalThis as unknown as Worker).postMessage("done");
}

if ("WorkerGlobalScope" in globalThis) globalThis.addEventListener("message", rewrite as EventListener);
