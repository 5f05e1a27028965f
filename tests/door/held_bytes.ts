/** What the heap of this process holds once all garbage is gone, bytes; it must run with `--v8-flags=--expose-gc`. */
export async function heldBytes(): Promise<number> {
  const { gc } = globalThis as unknown as { gc(): void };
  // What a turn holds by its stack, and what finalizers let go, is garbage of the next.
  for (let turn = 0; turn < 3; turn++) {
    gc();
    await new Promise<void>((resolve) => setTimeout(resolve));
  }
  return Deno.memoryUsage().heapUsed;
}
