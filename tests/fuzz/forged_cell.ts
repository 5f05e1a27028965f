/** A cell that its guest has taken over: says what its first argument holds, then does what the second names. */
const [path = "", then = "end"] = Deno.args;
const words = Deno.readFileSync(path);

function say(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

say(words);
if (then === "flood") {
  for (let left = 400; left > 0; left--) say(words);
} else if (then === "stay") {
  const into = new Uint8Array(65_536);
  while (Deno.stdin.readSync(into) !== null) say(words);
}
