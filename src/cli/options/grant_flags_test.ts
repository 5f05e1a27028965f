import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import { readArguments } from "./arguments.ts";
import { GRANT_OPTIONS, parseContainment, parseDuration, parseMemory, readGrantFlags } from "./grant_flags.ts";

const RULES = {
  name: "run",
  operands: { min: 0, max: 0, names: [] },
  options: GRANT_OPTIONS,
};
const read = (...argv: string[]) => readGrantFlags(readArguments(RULES, argv).args);

function refusal(parse: () => unknown): CapsuleError {
  const error = assertThrows(parse, CapsuleError);
  assertEquals(error.code, "usage.bad_value");
  return error;
}

Deno.test("parseDuration: units, fractions and plain milliseconds; zero, nonsense and a timer's overflow are refused", () => {
  const good = {
    "500ms": 500,
    "1.5s": 1500,
    "30s": 30_000,
    "5m": 300_000,
    "1h": 3_600_000,
    "250": 250,
    "2147483647": 2 ** 31 - 1,
  };
  for (const [text, milliseconds] of Object.entries(good)) assertEquals(parseDuration(text), milliseconds, text);
  for (
    const text of ["0", "0ms", "0.1", "-5", "5 s", "5d", "s", "1e3", "0x10", "2147483648", "99999h", "Infinity", "١s"]
  ) {
    assertStringIncludes(refusal(() => parseDuration(text)).message, `found "${text}"`);
  }
});

Deno.test("parseMemory: MiB by default, m and g; zero, nonsense and too much are refused", () => {
  const good = {
    "64": 64,
    "64m": 64,
    "64M": 64,
    "64MiB": 64,
    "64mb": 64,
    "1g": 1024,
    "2GiB": 2048,
    "1024g": 1024 * 1024,
  };
  for (const [text, mebibytes] of Object.entries(good)) assertEquals(parseMemory(text), mebibytes, text);
  for (const text of ["0", "-1", "64k", "1.5g", "g", "1025g", "64 m", "1t"]) {
    assertStringIncludes(refusal(() => parseMemory(text)).message, `found "${text}"`);
  }
});

Deno.test("parseContainment: the two classes and nothing else", () => {
  assertEquals([parseContainment("advisory"), parseContainment("scoped")], ["advisory", "scoped"]);
  for (const text of ["Scoped", "none", ""]) refusal(() => parseContainment(text));
});

Deno.test("readGrantFlags: what was typed, and nothing for what was not", () => {
  assertEquals(read(), { mounts: [], env: [] });
  assertEquals(
    read(
      "--mount",
      "./docs:/data:ro",
      "--mount",
      "a:/b",
      "--env",
      "LANG",
      "--env=A=b=c",
      "--deadline",
      "2s",
      "--memory=1g",
    ),
    {
      mounts: [{ host: "./docs", guest: "/data", mode: "ro" }, { host: "a", guest: "/b" }],
      env: [{ name: "LANG" }, { name: "A", value: "b=c" }],
      deadlineMs: 2000,
      memoryMb: 1024,
    },
  );
  assertEquals(read("--work", "out", "--containment", "scoped"), {
    mounts: [],
    env: [],
    containment: "scoped",
    work: "out",
  });
});

Deno.test("readGrantFlags: one bad value is the message, several are all listed", () => {
  assertStringIncludes(refusal(() => read("--memory", "lots")).message, 'Read --memory: found "lots"');
  const error = refusal(() => read("--memory", "lots", "--deadline", "soon", "--containment", "tight"));
  assertEquals(error.problems.length, 3);
});

Deno.test("readGrantFlags: --net in canonical form or refused, --no-net, never both", () => {
  const { net } = read("--net", "HTTPS://Api.Example.com:443", "--net=tcp://[::1]:6379", "--net", "listen:8080");
  assertEquals(net, ["https://api.example.com", "tcp://[::1]:6379", "listen:8080"]);
  assertEquals(read("--no-net"), { mounts: [], env: [], noNet: true });
  const { message } = refusal(() => read("--net", "example.com"));
  assertStringIncludes(message, 'Read --net: found "example.com": found no scheme; allowed: https://host[:port]');
  assert(!refusal(() => read("--net", "https://user:hidden@example.com")).message.includes("hidden"));
  refusal(() => read("--no-net", "--net", "https://example.com"));
});
