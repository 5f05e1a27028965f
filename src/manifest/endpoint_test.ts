import { assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { parseEndpoints, parseOrigin } from "./endpoint.ts";

function refusalOf(read: () => unknown): string {
  const error = assertThrows(read, CapsuleError);
  assertEquals(error.code, "inference.bad_uri", error.message);
  return error.message;
}

Deno.test("parseOrigin: one form of each origin; every disguise of another is refused, with what is allowed here", () => {
  const origins: readonly (readonly [string, string])[] = [
    ["HTTPS://Api.Example.com.:443", "https://api.example.com"],
    ["http://[0:0:0:0:0:0:0:1]:8080", "http://[::1]:8080"],
    ["http://[::ffff:127.0.0.1]", "http://127.0.0.1"],
    ["http://localhost", "http://localhost"],
  ];
  for (const [text, origin] of origins) assertEquals(parseOrigin(text), origin);
  const hosts = ["127.1", "0x7f.1", "2130706433", "127.0.0.1.example.com", "localhost.example.com", "0.0.0.0"];
  for (const host of hosts) refusalOf(() => parseOrigin(`http://${host}`));
  for (const host of ["10.0.0.1", "[::2]", "*.example.com", "[::1%lo]", "a b", ""]) {
    refusalOf(() => parseOrigin(`http://${host}`));
  }
  for (
    const text of ["example.com", "https://example.com/v1", "https://a@b.example", "tcp://a.example:1", "listen:1"]
  ) {
    const message = refusalOf(() => parseOrigin(text));
    assertEquals([message.includes("tcp://host"), message.includes("a@b")], [false, false], message);
  }
});

Deno.test("parseEndpoints: in their order, each once; a playbook's file is said to be of another dialect", () => {
  assertEquals(parseEndpoints("https://a.example/v1/, http://127.0.0.1:8080").map(({ url }) => url), [
    ...["https://a.example/v1", "http://127.0.0.1:8080"],
  ]);
  assertEquals(
    refusalOf(() => parseEndpoints("playbook.json")).endsWith("a playbook's file is of dialect scripted"),
    true,
  );
  for (const path of ["?key=x", "#x", "/../x", "/%2e%2E/x", "/a b", "/\u200b"]) {
    refusalOf(() => parseEndpoints(`https://a.example${path}`));
  }
  for (
    const text of [
      "",
      "https://a.example,",
      "https://a.example,https://a.example/",
      "https://a.example:443,https://a.example",
    ]
  ) {
    refusalOf(() => parseEndpoints(text));
  }
  assertEquals(refusalOf(() => parseEndpoints("https://me:s3cret@a.example")).includes("s3cret"), false);
});
