import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { CapsuleError } from "../base/mod.ts";
import { isIpLiteral, normalizeHost, parseNetEntry, parseProxy } from "./net_entry.ts";

function refusal(text: string): string {
  const error = assertThrows(() => parseNetEntry(text), CapsuleError);
  assertEquals([error.code, error.exitStatus], ["grant.bad_net", 2]);
  return error.message;
}

Deno.test("parseNetEntry: every form, in its one canonical text", () => {
  const table: Readonly<Record<string, readonly [text: string, host: string, port: number]>> = {
    "https://api.example.com": ["https://api.example.com", "api.example.com", 443],
    "HTTPS://API.Example.COM.:443": ["https://api.example.com", "api.example.com", 443],
    "https://api.example.com:8443": ["https://api.example.com:8443", "api.example.com", 8443],
    "http://api.example.com:80": ["http://api.example.com", "api.example.com", 80],
    "http://api.example.com:443": ["http://api.example.com:443", "api.example.com", 443],
    "tcp://cache:6379": ["tcp://cache:6379", "cache", 6379],
    "tcp://my_db.internal:443": ["tcp://my_db.internal:443", "my_db.internal", 443],
    "udp://192.0.2.1:53": ["udp://192.0.2.1:53", "192.0.2.1", 53],
    "https://*.example.com": ["https://*.example.com", "example.com", 443],
    "https://bücher.example": ["https://xn--bcher-kva.example", "xn--bcher-kva.example", 443],
    "https://XN--BCHER-KVA.example": ["https://xn--bcher-kva.example", "xn--bcher-kva.example", 443],
    "https://ｅxample。com": ["https://example.com", "example.com", 443],
    "tcp://[0:0::0:1]:1": ["tcp://[::1]:1", "::1", 1],
    "tcp://[2001:DB8::00ab]:65535": ["tcp://[2001:db8::ab]:65535", "2001:db8::ab", 65535],
    "http://[::ffff:127.0.0.1]": ["http://127.0.0.1", "127.0.0.1", 80],
    "http://[::FFFF:7f00:1]": ["http://127.0.0.1", "127.0.0.1", 80],
    "listen:8080": ["listen:8080", "127.0.0.1", 8080],
  };
  for (const [entry, wanted] of Object.entries(table)) {
    const { text, host, port } = parseNetEntry(entry);
    assertEquals([text, host, port], [...wanted], entry);
  }
});

Deno.test("parseNetEntry: literal is localhost or an address and nothing else; wildcard is a whole first label", () => {
  for (const entry of ["http://localhost", "http://LOCALHOST.:1", "tcp://10.0.0.1:1", "tcp://[::1]:1", "listen:1"]) {
    assertEquals(parseNetEntry(entry).literal, true, entry);
  }
  for (const entry of ["http://a.localhost", "http://localhost.com", "http://localhosts", "https://*.a.localhost"]) {
    assertEquals(parseNetEntry(entry).literal, false, entry);
  }
  assertEquals([parseNetEntry("https://*.a.b").wildcard, parseNetEntry("https://a.b").wildcard], [true, false]);
});

const REFUSED: Readonly<Record<string, readonly string[]>> = {
  "found no scheme": ["", "example.com", "//example.com", "https:example.com", "https:/example.com", " https://a.b"],
  "is no scheme": ["ftp://a.b", "ws://a.b", "unix://a"],
  "a path": ["https://a.b/", "https://a.b/x", "https://a.b\\x", "https:///a.b"],
  "a query or fragment": ["https://a.b?", "https://a.b?x=1", "https://a.b#", "https://a.b#x"],
  "user information": ["https://u@a.b", "https://u:hidden@a.b", "https://@a.b"],
  "the host is missing": ["https://", "https://:443", "https://*.", "tcp://:1"],
  "wildcard": ["https://*", "https://a.*.b", "https://**.a.b", "https://a*.b.c", "https://*a.b.c", "https://*.*.a.b"],
  "two labels": ["https://*.com", "https://*.localhost", "https://*.com."],
  "no wildcard": ["https://*.127.0.0.1", "tcp://*.10.0.0.1:1"],
  "the port": ["https://a:0", "https://a:65536", "https://a:", "https://a:080", "https://a:+1", "https://a:1e1"],
  "the port is missing": ["tcp://a.b", "udp://a.b", "tcp://[::1]"],
  "names no host": ["tcp://0.0.0.0:1", "tcp://[::]:1", "tcp://0.1.2.3:1", "tcp://[::ffff:0.0.0.0]:1"],
  "found no host and port": ["https://::1", "https://a:1:2", "https://[::1", "https://::1]", "https://[::1]1"],
  "the host is no name": [
    ...["127.1", "127.0.1", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "127.0.0.01", "127.0.0.1."],
    ...["256.0.0.1", "1.2.3.4.5", "a.1", "a.0x", "127.0.0.0x1", "１２７.０.０.１", "１２７.１", "127。0。0。1"],
    ...["a..b", ".a", "a..", "-a.b", "a-.b", "a b", "a\tb", "a\nb", "a\0b", "a%2eb", "a%00", "a,b", "a|b", "a'b"],
    ...["xn--", "xn--a", "xn--\u{fffd}", `${"a".repeat(64)}.b`, `${"a.".repeat(127)}b`, "\u00ad", "a\u{202e}b", "ß\0"],
    ...["[fe80::1%eth0]", "[fe80::1%25eth0]", "[]", "[1.2.3.4]", "[::g]", "[1::2::3]", "[v1.a]", "[::1\n]", "[a.b]"],
  ].map((host) => `https://${host}`),
};

Deno.test("parseNetEntry: all else is refused, each with its reason and what is allowed", () => {
  for (const [reason, entries] of Object.entries(REFUSED)) {
    for (const entry of entries) {
      const message = refusal(entry);
      assert(
        message.includes(reason) && message.includes("allowed: https://host[:port], http://host"),
        `${entry}: ${message}`,
      );
      assert(!message.includes("hidden"), message);
    }
  }
  for (
    const text of ["listen:", "listen:0", "listen:65536", "listen:a", "listen:1:2", "listen: 1", "listen:127.0.0.1:1"]
  ) {
    assert(refusal(text).includes("the port is not 1 to 65535"), text);
  }
  assert(refusal(`https://${"a".repeat(100_000)}`).length < 500);
  assert(!refusal("https://a\x1b[31m\u{202e}").includes("\x1b"));
});

const piece = fc.constantFrom(
  ...[
    "https",
    "http",
    "tcp",
    "udp",
    "listen",
    "://",
    ":",
    "/",
    ".",
    "*",
    "*.",
    "[",
    "]",
    "::",
    "::1",
    "::ffff:",
    "%",
    "@",
  ],
  ...[
    "a",
    "B",
    "-",
    "_",
    "0",
    "1",
    "127",
    "0x7f",
    "443",
    "80",
    "xn--",
    "ü",
    "。",
    "１",
    "localhost",
    " ",
    "\n",
    "?",
    "#",
  ],
);
const anyText = fc.oneof(
  fc.array(piece, { maxLength: 12 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary" }),
);

Deno.test("parseNetEntry: for any text, a refusal or an entry whose text reads back to itself", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      let entry;
      try {
        entry = parseNetEntry(text);
      } catch (error) {
        assert(error instanceof CapsuleError && error.code === "grant.bad_net", String(error));
        return;
      }
      assertEquals(parseNetEntry(entry.text), entry);
      assertEquals(normalizeHost(entry.host), entry.host);
      assert(/^[a-z0-9_.:-]+$/.test(entry.host) && !entry.host.endsWith("."), entry.host);
      // The runtime's own reading of the text must be the same place.
      if (/^https?$/.test(entry.scheme) && !entry.wildcard) {
        const url = new URL(entry.text);
        assertEquals(url.hostname, entry.host.includes(":") ? `[${entry.host}]` : entry.host);
        assertEquals([url.pathname, url.search, url.hash, url.username], ["/", "", "", ""]);
      }
    }),
    { numRuns: 5000 },
  );
});

Deno.test("normalizeHost: any text is undefined or the host that the URL parser reads, and never a hidden address", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const host = normalizeHost(text);
      if (host === undefined) return;
      assertEquals(normalizeHost(host), host);
      const read = new URL(`http://${host.includes(":") ? `[${host}]` : host}/`).hostname;
      assertEquals(read, host.includes(":") ? `[${host}]` : host);
    }),
    { numRuns: 5000 },
  );
  assertEquals(["::1", "[::1]", "::ffff:10.0.0.1"].map(normalizeHost), ["::1", "::1", "10.0.0.1"]);
  assertEquals(["1.2.3.4", "::1", "a.b", "localhost"].map(isIpLiteral), [true, true, false, false]);
});

Deno.test("parseProxy: http with a host, nothing else", () => {
  assertEquals(parseProxy("http://Proxy.local:3128"), { host: "proxy.local", port: 3128 });
  assertEquals(parseProxy("http://[::1]"), { host: "::1", port: 80 });
  for (const text of ["https://p:1", "tcp://p:1", "listen:1", "http://*.p.local", "http://u:hidden@p", "p:1"]) {
    const error = assertThrows(() => parseProxy(text), CapsuleError);
    assert(error.code === "grant.bad_net" && !error.message.includes("hidden"));
  }
});
