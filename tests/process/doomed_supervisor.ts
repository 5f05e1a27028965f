/** Starts a session whose guest never ends, says which processes there are, and waits to be killed. */
import { Bed, type Mode } from "../harness.ts";
import { childrenOf } from "../processes.ts";
import { startProbeSession } from "./running_session.ts";

const bed = new Bed(Deno.args[0] as Mode);
const { session } = await startProbeSession(bed, "for (;;);");
console.log(JSON.stringify({ root: bed.root, pids: [session.pid, ...childrenOf(session.pid)] }));
await new Promise(() => setInterval(() => {}, 60_000));
