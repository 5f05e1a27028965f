import { assertEquals } from "@std/assert";
import { ASYNC_IMPORTS, asyncImportsOf, HOST_ASYNC_IMPORTS, NETWORK_ASYNC_IMPORTS } from "./async_list.ts";

Deno.test("asyncImportsOf: blocking calls of streams suspend for a component that imports the network, and for no other", () => {
  const files = ["wasi:io/streams@0.2.3", "wasi:filesystem/types@0.2.3", "evil:http/types", "wasi:https/x@0.2.3"];
  assertEquals(asyncImportsOf(files), ASYNC_IMPORTS);
  const both = [...ASYNC_IMPORTS, ...NETWORK_ASYNC_IMPORTS];
  for (const name of ["wasi:http/types@0.2.12", "wasi:http/outgoing-handler", "wasi:sockets/tcp@0.2.0"]) {
    assertEquals(asyncImportsOf([...files, name]), both);
  }
  assertEquals(both.includes("wasi:io/streams#[method]input-stream.blocking-read"), true);
});

Deno.test("asyncImportsOf: a delegation suspends for a component that imports it, and for no other", () => {
  for (const name of ["boll:capsule/host", "boll:capsule/host@0.1.0"]) {
    assertEquals(asyncImportsOf([name]), [...ASYNC_IMPORTS, ...HOST_ASYNC_IMPORTS]);
  }
  for (const name of ["boll:capsule/hosts", "evil:capsule/host", "xboll:capsule/host"]) {
    assertEquals(asyncImportsOf([name]), ASYNC_IMPORTS);
  }
});
