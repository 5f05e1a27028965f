import { assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import { formatListen, parseListen } from "./listen_address.ts";

Deno.test("parseListen: loopback unless another host is typed; a port, a host, both, an IPv6 address", () => {
  const cases: [string, string, number][] = [
    ["9000", "127.0.0.1", 9000],
    [":9000", "127.0.0.1", 9000],
    ["0", "127.0.0.1", 0],
    ["0.0.0.0:80", "0.0.0.0", 80],
    ["localhost", "localhost", 8080],
    ["a-b.example:65535", "a-b.example", 65_535],
    ["[::1]:0", "::1", 0],
    ["[::]", "::", 8080],
  ];
  for (const [text, hostname, port] of cases) assertEquals(parseListen(text), { hostname, port }, text);
  for (const text of ["", ":", "a b", "host:", "1:2:3", "::1", "65536", "host:65536", "-1", "http://a:1", "[::1"]) {
    assertEquals(assertThrows(() => parseListen(text), CapsuleError, text).code, "usage.bad_value");
  }
});

Deno.test("formatListen: a URL, IPv6 in brackets", () => {
  assertEquals(formatListen({ hostname: "127.0.0.1", port: 1 }), "http://127.0.0.1:1");
  assertEquals(formatListen({ hostname: "::1", port: 2 }), "http://[::1]:2");
});
