import { assertEquals } from "@std/assert";
import type { Wire } from "../../http1/mod.ts";
import { SYSTEM_CLOCK } from "../clock.ts";
import { DEFAULT_LIMITS } from "../limits.ts";
import { HttpConnection } from "./http_connection.ts";

Deno.test("HttpConnection: a stream whose client went before its head was written is begun and ended all the same", async () => {
  const request = new TextEncoder().encode("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  let [isRead, ends] = [false, 0];
  const handle = () =>
    Promise.resolve({
      status: 200,
      fields: [],
      body: (write: (bytes: Uint8Array) => Promise<void>) => write(request).finally(() => ends++),
    });
  const wire: Wire = {
    read(into: Uint8Array) {
      if (isRead) return new Promise<number | null>(() => {});
      isRead = true;
      into.set(request);
      return Promise.resolve(request.length);
    },
    write: () => Promise.reject(new Deno.errors.ConnectionReset()),
    closeWrite: () => Promise.resolve(),
    close() {},
    remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 },
  };
  await new HttpConnection({ limits: DEFAULT_LIMITS, clock: SYSTEM_CLOCK, handle, onVouched() {} }, wire).serve();
  assertEquals(ends, 1);
});
