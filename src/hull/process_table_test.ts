import { assert, assertEquals } from "@std/assert";
import type { Libc } from "./libc.ts";
import { ProcessTable } from "./process_table.ts";

/** A libc whose every `/proc` file says `text`: more processes than a test can start. */
function libcThatReads(text: string): { libc: Libc; readonly count: number } {
  const buffers = new Map<bigint, Uint8Array>();
  let [left, count] = [new Uint8Array(0), 0];
  const libc = {
    addressOf(buffer: Uint8Array) {
      buffers.set(BigInt(buffers.size), buffer);
      return BigInt(buffers.size - 1);
    },
    call(name: string, _: number, address: bigint, length: number) {
      if (name === "openat") [left, count] = [new TextEncoder().encode(text), count + 1];
      if (name !== "read") return 3;
      const part = left.subarray(0, length);
      buffers.get(address)!.set(part);
      left = left.subarray(part.length);
      return part.length;
    },
  } as unknown as Libc;
  return {
    libc,
    get count() {
      return count;
    },
  };
}

Deno.test({
  name: "ProcessTable: of a storm of processes so many are looked at and no more, and none by a number that was cut",
  ignore: Deno.build.os !== "linux",
  fn() {
    // Each says that it has as many children; only this process's threads are there to be asked.
    const stat = `(x) S ${"0 ".repeat(30)}`;
    const pids = Array.from({ length: 200_000 }, (_, i) => String(1_000_000 + i));
    const storm = libcThatReads(`${pids.join(" ")} `);
    const children = new ProcessTable(storm.libc).children(Deno.pid);
    assert(children.length >= 4_096 && children.length < 10_000, String(children.length));
    assert(children.every((pid) => pid >= 1_000_000));
    assertEquals(new ProcessTable(libcThatReads(stat).libc).entry(1), { pid: 1, started: "0", dead: false });
    assertEquals(new ProcessTable(libcThatReads("12 13 ").libc).children(Deno.pid).slice(0, 2), [12, 13]);
    new ProcessTable(storm.libc).descendants(Deno.pid);
    assert(storm.count < 20_000, String(storm.count));
  },
});
