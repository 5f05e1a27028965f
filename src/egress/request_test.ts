import { findHeadEnd, type Head, HeadFault, parseHead } from "../http1/mod.ts";
import { accepted } from "../http1/fault_fixture.ts";
import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { readRequest } from "./request.ts";

const encode = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

/** A whole head, as the gate reads it. */
function read(text: string): ReturnType<typeof readRequest> {
  const bytes = encode(text);
  const end = findHeadEnd(bytes, 0);
  if (end !== bytes.length) throw new HeadFault("no whole head");
  return readRequest(parseHead(text.slice(0, -4)));
}

function head(...lines: string[]): string {
  return [...lines, "", ""].join("\r\n");
}

function passed(...lines: string[]): string {
  const request = read(head(...lines));
  return request.kind === "forward" ? String.fromCharCode(...request.head) : request.kind;
}

Deno.test("findHeadEnd: the same at every split point; a line that ends otherwise is a fault at once", () => {
  const bytes = encode("GET / HTTP/1.1\r\nA: b\r\n\r\nrest");
  for (let at = 0; at <= bytes.length; at++) {
    const first = findHeadEnd(bytes.subarray(0, at), 0);
    assertEquals(first ?? findHeadEnd(bytes, at), 24);
  }
  assertEquals(
    accepted(
      ["a\nb", "a\r\n\n", "a\rb", "\0", "a\x0b", "a\x7f", "a\x1b[2J", "\n"],
      (text) => findHeadEnd(encode(text), 0),
    ),
    [],
  );
  assertEquals(findHeadEnd(encode("a: \t\x80\xff b\r\n"), 0), undefined);
});

Deno.test("parseHead: fields in order with names in lower case; folded and shapeless lines are faults", () => {
  assertEquals(
    parseHead("X\r\nAb-C:  d: e\t \r\nF:"),
    { line: "X", fields: [["ab-c", "d: e"], ["f", ""]] } satisfies Head,
  );
  const lines = [" folded", "\tfolded", "no colon", ": no name", "Na me: x", "Name : x", "N\xe4me: x", "", "a(b): x"];
  assertEquals(accepted(lines, (line) => parseHead(`X\r\nA: b\r\n${line}`)), []);
  assertThrows(() => parseHead("\r\nGET / HTTP/1.1"), HeadFault);
});

Deno.test("readRequest: CONNECT takes a host, a port and nothing that could be read in two ways", () => {
  const ask = (target: string, ...fields: string[]) => read(head(`CONNECT ${target} HTTP/1.1`, ...fields));
  const shape = { kind: "connect", scheme: undefined } as const;
  assertEquals(ask("A.test.:443", "Host: a.TEST:443"), { ...shape, host: "a.test", port: 443 });
  assertEquals(ask("a.test:443", "Host: a.test", "x-boll-scheme: tcp"), {
    ...shape,
    scheme: "tcp",
    host: "a.test",
    port: 443,
  });
  assertEquals(ask("[2001:DB8::0:1]:1", "Host: [2001:db8::1]:1"), { ...shape, host: "2001:db8::1", port: 1 });
  assertEquals(ask("[::ffff:127.0.0.1]:1", "Host: 127.0.0.1:1"), { ...shape, host: "127.0.0.1", port: 1 });
  const wrong = [
    ...[
      "a.test",
      "a.test:",
      "a.test:0",
      "a.test:65536",
      "a.test:+1",
      "a.test:1x",
      ":443",
      "user@a.test:1",
      "a.test:1/",
    ],
    ...[
      "u:p@a.test:1",
      "[::1%lo]:1",
      "::1:80",
      "127.1:80",
      "0x7f000001:80",
      "2130706433:80",
      "0177.0.0.1:80",
      "a..b:1",
    ],
    ...["http://a.test:1", "*:1", "*.a.test:1", "a.test:1#", "a.test\\:1", "-:1x", "a%2e:1", "[a.test]:1"],
  ];
  assertEquals(accepted(wrong, (target) => ask(target, `Host: ${target}`)), []);
  const lies = [["Host: b.test:443"], ["Host: a.test:444"], [], ["Host: a.test:443", "Host: a.test:443"], ["Host: "]];
  for (const fields of lies) assertThrows(() => ask("a.test:443", ...fields), HeadFault);
  const bodies = ["Content-Length: 0", "Transfer-Encoding: chunked", "x-boll-scheme: http", "x-boll-scheme: udp"];
  for (const field of bodies) assertThrows(() => ask("a.test:443", "Host: a.test:443", field), HeadFault);
});

Deno.test("readRequest: an http URL becomes one request in origin form, its Host made anew", () => {
  assertEquals(
    passed("GET http://A.test HTTP/1.1", "Host: a.test"),
    head("GET / HTTP/1.1", "host: a.test", "connection: close"),
  );
  assertEquals(
    passed("POST HTTP://a.test:81?q=1 HTTP/1.1", "Host: a.test:81", "content-length: 5", "Expect: 100-continue"),
    head("POST /?q=1 HTTP/1.1", "host: a.test:81", "expect: 100-continue", "content-length: 5", "connection: close"),
  );
  assertEquals(
    passed("PUT http://[::1]/x?y=http://z/ HTTP/1.1", "Host: [::1]:80", "Transfer-Encoding: chunked"),
    head("PUT /x?y=http://z/ HTTP/1.1", "host: [::1]", "transfer-encoding: chunked", "connection: close"),
  );
});

Deno.test("readRequest: fields of one hop, those that Connection names, and the gate's own stay behind", () => {
  const dropped = [
    ...[
      "Connection: close, X-Drop,host",
      "Connection: x-more",
      "Keep-Alive: 1",
      "Proxy-Connection: close",
      "TE: trailers",
    ],
    ...["Proxy-Authorization: Basic x", "Proxy-Authenticate: x", "Trailer: a", "Upgrade: h2c", "HTTP2-Settings: x"],
    ...["X-Drop: 1", "x-more: 1", "X-Boll-Scheme: tcp", "x-boll-error: x"],
  ];
  assertEquals(
    passed("GET http://a.test/ HTTP/1.1", "Host: a.test", ...dropped, "Authorization: Bearer own", "Cookie: a=\xe4"),
    head("GET / HTTP/1.1", "host: a.test", "authorization: Bearer own", "cookie: a=\xe4", "connection: close"),
  );
});

Deno.test("readRequest: every other target, version and method is a fault", () => {
  const wrong = [
    ...[
      "GET / HTTP/1.1",
      "GET a.test HTTP/1.1",
      "GET https://a.test/ HTTP/1.1",
      "GET ftp://a.test/ HTTP/1.1",
      "OPTIONS * HTTP/1.1",
    ],
    ...["GET http://user@a.test/ HTTP/1.1", "GET http://a.test@b.test/ HTTP/1.1", "GET http://a.test:x/ HTTP/1.1"],
    ...[
      "GET http://a.test/#f HTTP/1.1",
      "GET http:///x HTTP/1.1",
      "GET http://a.test\\@b.test/ HTTP/1.1",
      "GET http:a.test HTTP/1.1",
    ],
    ...[
      "GET http://a.test/ HTTP/1.0",
      "GET http://a.test/ HTTP/2.0",
      "GET http://a.test/ http/1.1",
      "GET http://a.test/",
    ],
    ...[
      "GET  http://a.test/ HTTP/1.1",
      "GET http://a.test/ x HTTP/1.1",
      "GET\thttp://a.test/ HTTP/1.1",
      " GET http://a.test/ HTTP/1.1",
    ],
    ...[
      "G(T http://a.test/ HTTP/1.1",
      "GET http://a.test/\xe4 HTTP/1.1",
      "GET http://a.test/ HTTP/1.1 ",
      "POST /failure/a.test:1 HTTP/1.1",
    ],
    ...["GET /failure/a.test HTTP/1.1", "GET /failure/ HTTP/1.1"],
  ];
  assertEquals(accepted(wrong, (line) => read(head(line, "Host: a.test"))), []);
});

Deno.test("readRequest: whatever the bytes, a request or a fault; and a request's head is one head again", () => {
  const line = fc.constantFrom(
    "GET http://a.test/ HTTP/1.1",
    "CONNECT a.test:1 HTTP/1.1",
    "POST http://a.test/?x HTTP/1.1",
  );
  const field = fc.constantFrom(
    ...[
      "Host: a.test",
      "Host: a.test:1",
      "Content-Length: 3",
      "Transfer-Encoding: chunked",
      "X: y",
      "Connection: x",
      " fold",
    ],
  );
  const noise = fc.tuple(
    fc.nat(200),
    fc.string({ unit: fc.constantFrom("\r", "\n", "\0", " ", ":", "\t", "a", "\xff", "@"), maxLength: 3 }),
  );
  fc.assert(
    fc.property(line, fc.array(field, { maxLength: 5 }), fc.option(noise), (line, fields, noise) => {
      let text = head(line, ...fields);
      if (noise !== null) text = text.slice(0, noise[0]) + noise[1] + text.slice(noise[0]);
      try {
        const request = read(text);
        if (request.kind !== "forward") return;
        assertEquals(findHeadEnd(request.head, 0), request.head.length);
        const again = parseHead(String.fromCharCode(...request.head).slice(0, -4));
        // The noise may name another host: what goes out is the one that the gate has matched.
        const { host, port } = request;
        const wanted = port === 80 ? host : `${host}:${port}`;
        assertEquals(again.fields.filter(([name]) => name === "host"), [["host", wanted]]);
        assertEquals(
          again.fields.filter(([name]) => /^(content-length|transfer-encoding)$/.test(name)).length <= 1,
          true,
        );
      } catch (error) {
        if (!(error instanceof HeadFault)) throw error;
      }
    }),
    { numRuns: 20_000 },
  );
});
