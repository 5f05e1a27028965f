import { assertEquals, assertRejects } from "@std/assert";
import { Libc } from "./libc.ts";
import { setNoDelay, setUserTimeout } from "./listener_options.ts";

Deno.test({
  name: "setNoDelay: finds the listener of a port, IPv4 and IPv6, and no other socket",
  ignore: Deno.build.os !== "linux",
  fn() {
    using libc = Libc.open();
    for (const hostname of ["127.0.0.1", "::1"]) {
      using listener = Deno.listen({ hostname, port: 0 });
      using other = Deno.listen({ hostname, port: 0 });
      const { port } = listener.addr;
      assertEquals([setNoDelay(libc, port), port === other.addr.port], [1, false]);
    }
    assertEquals(setNoDelay(libc, 1), 0);
  },
});

Deno.test({
  name: "setUserTimeout: a connection whose client takes nothing is reset, one whose client is slow is not",
  ignore: Deno.build.os !== "linux",
  async fn() {
    using libc = Libc.open();
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    assertEquals(setUserTimeout(libc, listener.addr.port, 300), 1);
    using stalled = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
    using toStalled = await listener.accept();
    using slow = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
    using toSlow = await listener.accept();
    const bytes = new Uint8Array(1024 * 1024);
    let isOver = false;
    const reset = assertRejects(async () => {
      for (;;) await toStalled.write(bytes);
    }, Error).finally(() => isOver = true);
    const taken = new Uint8Array(64 * 1024);
    while (!isOver) await Promise.all([toSlow.write(taken.subarray(0, 1)), slow.read(taken)]);
    assertEquals((await reset).name, "TimedOut");
    stalled.close();
  },
});
