import { assertEquals } from "@std/assert";
import { Libc } from "./libc.ts";
import { setNoDelay } from "./no_delay.ts";

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
