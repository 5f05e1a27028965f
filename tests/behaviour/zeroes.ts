/** A body of so many bytes, a piece of 64 KiB at a time. */
export function zeroes(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      const count = Math.min(left, 65_536);
      if (count === 0) return controller.close();
      controller.enqueue(new Uint8Array(count));
      left -= count;
    },
  });
}
