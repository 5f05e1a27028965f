/**
 * Swaps two names in a folder, again and again, until it is killed: what lies at one lies at the other, in one step, so
 * that at no time there is nothing. Arguments: pairs of paths. Says `up` when it has begun.
 */
const AT_FDCWD = -100;
const RENAME_EXCHANGE = 2;

const { symbols: libc } = Deno.dlopen("libc.so.6", {
  renameat2: { parameters: ["i32", "buffer", "i32", "buffer", "u32"], result: "i32" },
  usleep: { parameters: ["u32"], result: "i32" },
});

const paths = Deno.args.map((path) => new TextEncoder().encode(`${path}\0`));

function swapAll(): void {
  for (let at = 0; at < paths.length; at += 2) {
    const result = libc.renameat2(AT_FDCWD, paths[at]!, AT_FDCWD, paths[at + 1]!, RENAME_EXCHANGE);
    if (result !== 0) throw new Error(`Swap ${Deno.args[at]}: refused`);
    // Some 50 µs, about what one operation of a guest takes: without it the folder is locked nearly all the time.
    libc.usleep(1);
  }
}

swapAll();
console.log("up");
for (;;) swapAll();
