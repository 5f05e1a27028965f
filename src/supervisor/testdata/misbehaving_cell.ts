/** A cell that does one thing wrong (or right), named by its first argument. */
import { encodeFrame } from "../../protocol/mod.ts";

const [mode] = Deno.args;
const tmp = Deno.env.get("TMPDIR")!;
const forever = () => new Promise(() => setInterval(() => {}, 1000));

if (mode === "deaf") await forever();
if (mode === "exit") Deno.exit(7);
if (mode === "killed") Deno.kill(Deno.pid, "SIGKILL");
if (mode === "environment") {
  Deno.stdout.writeSync(encodeFrame({ type: "environment", value: Deno.env.toObject(), args: Deno.args }));
  Deno.exit(0);
}
if (mode === "flood") {
  const line = new TextEncoder().encode("x".repeat(1023) + "\n");
  for (let i = 0; i < 4096; i++) Deno.stderr.writeSync(line);
  Deno.stderr.writeSync(new TextEncoder().encode("last words"));
  Deno.stdout.writeSync(encodeFrame({ type: "flooded" }));
  Deno.exit(0);
}
if (mode === "torn") {
  Deno.stdout.writeSync(encodeFrame({ type: "whole" }));
  Deno.stdout.writeSync(encodeFrame({ type: "torn" }).subarray(0, 7));
  Deno.exit(0);
}
if (mode === "garbage") {
  Deno.stdout.writeSync(new TextEncoder().encode("Hello, this is a log line"));
  await forever();
}
if (mode === "last_word") {
  for (let i = 0; i < 500; i++) Deno.stdout.writeSync(encodeFrame({ type: "n", i }));
  Deno.exit(0);
}
if (mode === "echo") {
  const buffer = new Uint8Array(65536);
  for (let n = Deno.stdin.readSync(buffer); n !== null; n = Deno.stdin.readSync(buffer)) {
    Deno.stdout.writeSync(buffer.subarray(0, n));
  }
}
if (mode === "socket" || mode === "impostor") {
  const nonce = Deno.readTextFileSync(`${tmp}/n`);
  if (mode === "impostor") {
    const wrong = await Deno.connect({ transport: "unix", path: `${tmp}/s` });
    await wrong.write(encodeFrame({ type: "hello", nonce: nonce.replace(/./, "!") }));
    await wrong.read(new Uint8Array(1));
    const noise = await Deno.connect({ transport: "unix", path: `${tmp}/s` });
    await noise.write(new Uint8Array(600).fill(0xff));
    await noise.read(new Uint8Array(1)).catch(() => null);
  }
  const connection = await Deno.connect({ transport: "unix", path: `${tmp}/s` });
  // In one piece, as the kernel may join what was written as two.
  await connection.write(
    new Uint8Array([...encodeFrame({ type: "hello", nonce }), ...encodeFrame({ type: "true_cell" })]),
  );
  await connection.read(new Uint8Array(1));
}
