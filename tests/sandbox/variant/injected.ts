/**
 * The attacker behind wall 1: JavaScript in the guest's thread, as if a component had broken out of its sandbox. It has
 * everything that the thread has. Only a variant executable holds this module.
 */
import type { GuestPorts } from "../../../src/guest/run_guest.ts";
import type { GuestReport } from "../../../src/guest/worker_messages.ts";
import type { RunLoad } from "../../../src/protocol/mod.ts";

const MARK = "//injected\n";
const NO_USAGE = { memory_percent: 0, bytes_written: 0, output_bytes: 0, stdout_closed: false };

/** Are the guest's arguments a source to run in its place? */
export function isInjected(load: RunLoad): boolean {
  return load.args[1]?.startsWith(MARK) === true;
}

/** Runs that source, all arguments put together, as the body of an async function of `load` and `ports`, and prints what it gives as JSON. */
export async function runInjected(load: RunLoad, ports: GuestPorts): Promise<GuestReport> {
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const value = await AsyncFunction("load", "ports", load.args.slice(1).join(""))(load, ports);
  const line = new TextEncoder().encode(JSON.stringify(value) + "\n");
  for (let written = 0; written < line.length;) written += Deno.stdout.writeSync(line.subarray(written));
  return { ending: { kind: "exit", code: 0 }, usage: NO_USAGE };
}
