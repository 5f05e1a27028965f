import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseNetEntry } from "../manifest/mod.ts";
import { anyNet, netTargets } from "./arbitrary_fixture.ts";
import { canonicalNet, intersectNet, matchesNet, type NetTarget } from "./net_entry.ts";

const entries = (...texts: string[]) => texts.map(parseNetEntry);
const target = (scheme: NetTarget["scheme"], host: string, port: number): NetTarget => ({ scheme, host, port });

Deno.test("matchesNet: scheme, host and port all match, or nothing does", () => {
  const granted = entries("https://api.example.com", "tcp://10.0.0.1:6379", "tcp://[2001:db8::1]:1");
  assertEquals(matchesNet(granted, target("https", "api.example.com", 443)), granted[0]);
  assertEquals(matchesNet(granted, target("https", "API.Example.com.", 443)), granted[0]);
  assertEquals(matchesNet(granted, target("tcp", "::ffff:10.0.0.1", 6379)), granted[1]);
  assertEquals(matchesNet(granted, target("tcp", "[2001:DB8:0::1]", 1)), granted[2]);
  for (
    const missed of [
      target("http", "api.example.com", 443),
      target("tcp", "api.example.com", 443),
      target("https", "api.example.com", 80),
      target("https", "example.com", 443),
      target("https", "x.api.example.com", 443),
      target("https", "api.example.com.evil.test", 443),
      target("https", "api.example.com\0.evil.test", 443),
      target("https", "api.example.com:443", 443),
      target("https", "user@api.example.com", 443),
      target("https", "api.example.com..", 443),
      target("https", "api.example.com%2e", 443),
      target("tcp", "167772161", 6379),
      target("tcp", "10.1", 6379),
      target("tcp", "012.0.0.1", 6379),
      target("tcp", "10.0.0.1", 6380),
      target("udp", "10.0.0.1", 6379),
      target("tcp", "", 6379),
    ]
  ) assertEquals(matchesNet(granted, missed), undefined, JSON.stringify(missed));
  assertEquals(matchesNet([], target("https", "api.example.com", 443)), undefined);
});

Deno.test("matchesNet: a wildcard is every name below, at any depth, and neither the apex nor an address", () => {
  const granted = entries("https://*.example.com");
  for (const host of ["a.example.com", "a.b.example.com", "A.EXAMPLE.com"]) {
    assertEquals(matchesNet(granted, target("https", host, 443)), granted[0], host);
  }
  for (const host of ["example.com", ".example.com", "aexample.com", "*.example.com", "a.example.com.x", "::1"]) {
    assertEquals(matchesNet(granted, target("https", host, 443)), undefined, host);
  }
});

Deno.test("matchesNet: localhost and addresses are no names of one another; listening is on loopback only", () => {
  assertEquals(matchesNet(entries("http://localhost"), target("http", "127.0.0.1", 80)), undefined);
  assertEquals(matchesNet(entries("http://127.0.0.1"), target("http", "localhost", 80)), undefined);
  assertEquals(matchesNet(entries("http://127.0.0.1"), target("http", "::1", 80)), undefined);
  const granted = entries("listen:8080");
  for (const host of ["127.0.0.1", "::1"]) assert(matchesNet(granted, target("listen", host, 8080)), host);
  for (const host of ["0.0.0.0", "::", "192.168.0.1", "localhost", "127.0.0.2"]) {
    assertEquals(matchesNet(granted, target("listen", host, 8080)), undefined, host);
  }
  assertEquals(matchesNet(granted, target("listen", "127.0.0.1", 8081)), undefined);
  assertEquals(matchesNet(granted, target("tcp", "127.0.0.1", 8080)), undefined);
});

Deno.test("canonicalNet: sorted, each once, whatever the order and spelling", () => {
  const net = canonicalNet(["tcp://b:1", "HTTPS://a.example:443", "https://a.example", "listen:1"]);
  assertEquals(net, ["https://a.example", "listen:1", "tcp://b:1"]);
  assertEquals(canonicalNet(net), net);
});

Deno.test("intersectNet: allows exactly what both lists allow", () => {
  const allows = (net: readonly string[], one: NetTarget) => matchesNet(entries(...net), one) !== undefined;
  fc.assert(
    fc.property(anyNet, anyNet, netTargets, (one, other, asked) => {
      const both = intersectNet(one, other);
      assertEquals(both, canonicalNet(both));
      assertEquals(allows(both, asked), allows(one, asked) && allows(other, asked));
    }),
    { numRuns: 3000 },
  );
});
