import { assert, assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { parseEnvFlag, parseMountFlag, parseNetFlag } from "./flags.ts";

Deno.test("parseMountFlag: host, guest and mode; the guest is normalised", () => {
  assertEquals(parseMountFlag("./docs:/data:ro"), { host: "./docs", guest: "/data", mode: "ro" });
  assertEquals(parseMountFlag("/a:/b:/c"), { host: "/a:/b", guest: "/c" });
  assertEquals(parseMountFlag("C:\\x:/c//d/:rw"), { host: "C:\\x", guest: "/c/d", mode: "rw" });
  assertEquals(parseMountFlag("ro:/rw"), { host: "ro", guest: "/rw" });
  for (
    const text of ["", "docs", ":/data", "docs:", "docs:data", "docs:/", "docs:/data:rx", "docs:/a/../b", "d\0:/a"]
  ) {
    const error = assertThrows(() => parseMountFlag(text), CapsuleError);
    assertEquals(error.code, "usage.bad_value", text);
    assert(error.message.includes("HOST:GUEST[:ro|rw]"));
  }
});

Deno.test("parseMountFlag: what would turn a terminal's text around is shown escaped, in the guest's path too", () => {
  assertEquals(parseMountFlag("a:/b\u202e").guest, "/b\u202e");
  for (const text of ["a:/\u202e/../b", "a\u202e:/..", "\u202e"]) {
    const { message } = assertThrows(() => parseMountFlag(text), CapsuleError);
    assert(message.includes("\\u{202e}") && !message.includes("\u202e"), message);
  }
});

Deno.test("parseEnvFlag: name and value; a value is never shown and a credential never passed", () => {
  assertEquals(parseEnvFlag("LANG"), { name: "LANG" });
  assertEquals(parseEnvFlag("A="), { name: "A", value: "" });
  assertEquals(parseEnvFlag("A=b=c"), { name: "A", value: "b=c" });
  for (const text of ["", "=hidden", "1A=hidden", "A B=hidden", "API_KEY=hidden", "AWS_PROFILE", "A=hidden\0"]) {
    const error = assertThrows(() => parseEnvFlag(text), CapsuleError);
    assertEquals(error.code, "usage.bad_value", text);
    assert(!error.message.includes("hidden"), error.message);
  }
});

Deno.test("parseNetFlag: canonical form, or refused as a usage error that shows no user information", () => {
  assertEquals(parseNetFlag("HTTPS://Example.com.:443"), "https://example.com");
  for (const text of ["", "example.com", "https://example.com/", "https://u:hidden@example.com", "tcp://a"]) {
    const error = assertThrows(() => parseNetFlag(text), CapsuleError);
    assertEquals([error.code, error.message.startsWith("Read --net: found ")], ["usage.bad_value", true], text);
    assert(!error.message.includes("hidden"));
  }
});
