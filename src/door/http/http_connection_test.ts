import { assertEquals } from "@std/assert";
import type { Wire } from "../../http1/mod.ts";
import { SYSTEM_CLOCK } from "../clock.ts";
import { DEFAULT_LIMITS } from "../limits.ts";
import { HttpConnection } from "./http_connection.ts";

/** Goes out by itself, behind its head. */
const LARGE = 100_000;

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

for (const how of ["takes it", "goes"]) {
  Deno.test(`HttpConnection: an answer is held until its client ${how}, and is gone then, once`, async () => {
    const request = new TextEncoder().encode("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    const [asked, written] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
    let [isRead, gone] = [false, 0];
    const handle = () =>
      Promise.resolve({ status: 200, fields: [], body: new Uint8Array(LARGE), onGone: () => void gone++ });
    const wire: Wire = {
      read(into: Uint8Array) {
        if (isRead) return Promise.resolve(null);
        isRead = true;
        into.set(request);
        return Promise.resolve(request.length);
      },
      write(bytes: Uint8Array) {
        if (bytes.length < LARGE) return Promise.resolve(bytes.length);
        asked.resolve();
        return written.promise;
      },
      closeWrite: () => Promise.resolve(),
      close() {},
      remoteAddr: { transport: "tcp", hostname: "127.0.0.1", port: 1 },
    };
    const connection = new HttpConnection(
      { limits: DEFAULT_LIMITS, clock: SYSTEM_CLOCK, handle, onVouched() {} },
      wire,
    );
    const served = connection.serve();
    await asked.promise;
    if (how === "goes") {
      // Closed by the door: the runtime keeps what it writes until its client goes, too.
      connection.close();
      await served;
    }
    assertEquals(gone, 0);
    if (how === "goes") written.reject(new Deno.errors.ConnectionReset());
    else written.resolve(LARGE);
    await served;
    await connection.released;
    assertEquals(gone, 1);
  });
}
