/**
 * Looks every few seconds whether the fuzz target on the main thread has come to another case; when not, that case hangs,
 * nothing on the main thread can say so, and the process is ended from here.
 * @module
 */
/** What is watched; `cases` counts those begun. */
interface Watched {
  readonly name: string;
  readonly seed: number;
  readonly cases: Int32Array;
}

const LOOK_MS = 5_000;
const LOOKS = 24;

addEventListener("message", (event) => {
  const { name, seed, cases } = (event as MessageEvent<Watched>).data;
  let [seen, looks] = [-1, 0];
  setInterval(() => {
    const now = Atomics.load(cases, 0);
    looks = now === seen ? looks + 1 : 0;
    seen = now;
    if (looks < LOOKS) return;
    console.error(`fuzz: ${name}: case ${now} of seed ${seed} does not end`);
    Deno.kill(Deno.pid, "SIGKILL");
  }, LOOK_MS);
});
