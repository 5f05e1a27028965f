/** Words of the command line, and the entries and addresses among them. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { errorCodeOf } from "../../src/base/mod.ts";
import { readArguments, usageError } from "../../src/cli/options/arguments.ts";
import { parseContainment, parseDuration, parseMemory, readGrantFlags } from "../../src/cli/options/grant_flags.ts";
import { formatListen, parseListen } from "../../src/cli/serve/listen_address.ts";
import type { Verb } from "../../src/cli/verb.ts";
import { VERBS } from "../../src/cli/verbs.ts";
import { parseAddress } from "../../src/egress/address.ts";
import { parseEnvFlag, parseMountFlag, parseNetFlag } from "../../src/grants/mod.ts";
import { globOverlaps, matchesGlob, normalizeGuestPath, normalizeHost, parseNetEntry } from "../../src/manifest/mod.ts";
import { fuzz, refusalOf } from "./fuzz.ts";
import { keptTexts } from "./kept_cases.ts";

const verbs: Verb[] = [];
for (const entry of VERBS) verbs.push((await entry.load()).verb);

const FLAGS = [
  ...new Set(
    verbs.flatMap(({ options, refused = {} }) => [...options.map(({ name }) => name), ...Object.keys(refused)]),
  ),
];
const VALUES = [
  ...[
    "",
    "-",
    "--",
    "-h",
    "--help",
    "---",
    "-x",
    "=",
    "--=",
    "--mount=",
    "a",
    "x.wasm",
    "./a:/b",
    "a:/b:rw",
    ":/b",
    "A=1",
  ],
  ...["A", "=A", "64m", "1g", "0", "99999999999999999999", "1e9", "1.5s", "scoped", "https://a.test", "tcp://a:1"],
  ...["\0", "\n", "\x1b[2J", "\u202e", "\ud800", "__proto__", "--__proto__", "--constructor", "--toString=1"],
  ...["a".repeat(100_000), "--" + "a".repeat(10_000), "https://" + "a.".repeat(300), "/../..//./"],
];
const word = fc.oneof(
  fc.constantFrom(...VALUES),
  fc.constantFrom(...FLAGS).map((name) => `--${name}`),
  fc.tuple(fc.constantFrom(...FLAGS), fc.constantFrom(...VALUES)).map(([name, value]) => `--${name}=${value}`),
  fc.string({ unit: "binary", maxLength: 12 }),
);

fuzz("whatever words follow a verb, they are read whole, or what is wrong is said", {
  input: fc.tuple(fc.constantFrom(...verbs), fc.array(word, { maxLength: 10 })),
  runs: 4_000,
  check([verb, words]) {
    const { args, problems } = readArguments(verb, words);
    for (const name of FLAGS) {
      assertEquals(args.has(name), args.values(name).length > 0);
      if (!verb.options.some((option) => option.name === name) && name !== "help") assert(!args.has(name), name);
    }
    assert(args.operands.length <= verb.operands.max);
    assert(args.rest.every((passed, index) => passed === words[words.length - args.rest.length + index]));
    if (problems.length > 0) {
      const refusal = refusalOf(() => {
        throw usageError(verb.name, problems);
      });
      return assert(errorCodeOf(refusal)?.startsWith("usage."));
    }
    const refusal = refusalOf(() => readGrantFlags(args));
    if (refusal !== undefined) assertEquals(errorCodeOf(refusal), "usage.bad_value");
  },
});

const HOSTS = [
  ...[
    "a.test",
    "A.Test.",
    "*.a.test",
    "*.*",
    "*",
    "localhost",
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "2130706433",
    "010.0.0.1",
  ],
  ...[
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[fe80::1%eth0]",
    "[::]",
    "0.0.0.0",
    "[",
    "]",
    "::1",
    "xn--a",
    "é.test",
  ],
  ...[
    "a_b",
    "-a",
    "a-",
    "a..b",
    ".",
    "",
    "1.2.3.4.",
    "①②⑦.⓪.⓪.①",
    "user:pw@a",
    "a\\b",
    "a/b",
    "a?b",
    "a#b",
    "%61",
    "\u00ad",
  ],
  ...[
    "a\tb",
    "ß.test",
    "x".repeat(64),
    `${"x".repeat(63)}.`.repeat(5),
    "１２７.0.0.1",
    "[1:2:3:4:5:6:7::]",
    "[::1.2.3.4]",
  ],
];
const entry = fc.oneof(
  fc.tuple(
    fc.constantFrom(
      "https://",
      "http://",
      "tcp://",
      "udp://",
      "listen:",
      "HTTPS://",
      "ftp://",
      "//",
      "",
      "tcp:",
      "http:///",
    ),
    fc.oneof(
      fc.constantFrom(...HOSTS),
      fc.domain(),
      fc.ipV4(),
      fc.ipV6().map((text) => `[${text}]`),
      fc.string({ unit: "binary", maxLength: 8 }),
    ),
    fc.constantFrom("", ":1", ":0", ":443", ":80", ":65535", ":65536", ":01", ":", ":x", ":1:2", ":+1", ":1 ", "/"),
  ).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 30 }),
);

fuzz("an entry of the network is refused, or stands in one form that reads as itself", {
  input: entry,
  runs: 4_000,
  check(text) {
    const refusal = refusalOf(() => parseNetEntry(text));
    if (refusal !== undefined) {
      assertEquals(errorCodeOf(refusal), "grant.bad_net");
      assert(!refusal.message.includes("pw@"), refusal.message);
      return assertEquals(errorCodeOf(refusalOf(() => parseNetFlag(text))), "usage.bad_value");
    }
    const read = parseNetEntry(text);
    assertEquals(parseNetEntry(read.text), read);
    assertEquals(normalizeHost(read.host), read.host);
    assert(/^[\x21-\x7e]+$/.test(read.text), read.text);
    // What is no literal must be no address for whoever resolves it.
    if (!read.literal && !read.wildcard) {
      const url = new URL(`http://${read.host}/`);
      assert(!/^[\d.]+$/.test(url.hostname) && !url.hostname.startsWith("["), `${read.host} is ${url.hostname}`);
    }
  },
});

/** Two readers of one address, each written for itself. */
fuzz("both readers of addresses know the same ones, and each as the engine does", {
  input: fc.oneof(
    fc.ipV6(),
    fc.ipV4(),
    fc.constantFrom(...HOSTS).map((host) => host.replace(/^\[|\]$/g, "")),
    fc.array(fc.constantFrom("0", "1", "f", "ffff", "10000", ":", "::", ".", "255", "256", "1.2.3.4", "%", "g"), {
      maxLength: 12,
    })
      .map((parts) => parts.join("")),
  ),
  runs: 4_000,
  check(text) {
    const address = parseAddress(text);
    const host = text.includes(".") && !text.includes(":") && text.endsWith(".") ? undefined : normalizeHost(text);
    const isAddress = host !== undefined && (host.includes(":") || /^\d+\.\d+\.\d+\.\d+$/.test(host));
    assertEquals(address !== undefined, isAddress, text);
    if (address === undefined || host === undefined) return;
    assertEquals(parseAddress(host), address, `${text} as ${host}`);
  },
});

const anyText = fc.oneof(fc.constantFrom(...VALUES, ...HOSTS), fc.string({ unit: "binary", maxLength: 20 }), word);

fuzz("values of flags are read or refused", {
  input: fc.oneof(
    anyText,
    fc.tuple(fc.nat(), fc.constantFrom("", "ms", "s", "m", "h", "g", "MiB", "k", " s")).map((parts) => parts.join("")),
  ),
  kept: keptTexts("value"),
  runs: 4_000,
  check(text) {
    for (const parse of [parseDuration, parseMemory, parseContainment, parseMountFlag, parseEnvFlag, parseListen]) {
      const refusal = refusalOf(() => parse(text));
      if (refusal !== undefined) assertEquals(errorCodeOf(refusal), "usage.bad_value");
    }
    if (refusalOf(() => parseListen(text)) === undefined) {
      const address = parseListen(text);
      assertEquals(parseListen(formatListen(address).slice("http://".length)), address);
    }
    const path = refusalOf(() => normalizeGuestPath(text));
    if (path === undefined) assertEquals(normalizeGuestPath(normalizeGuestPath(text)), normalizeGuestPath(text));
  },
});

const glob = fc.array(fc.constantFrom("*", "**", "/", "a", "b", "?", ".", ".."), { maxLength: 24 })
  .map((parts) => parts.join(""));
const path = fc.array(fc.constantFrom("a", "b", "/", "\u{1f600}"), { maxLength: 40 }).map((parts) => parts.join(""));

/** The same by trying everything: right, and slow where there is much to try. */
function isMatch(glob: readonly string[], parts: readonly string[]): boolean {
  const [first, ...others] = glob;
  if (first === undefined) return parts.length === 0;
  if (first === "**") return isMatch(others, parts) || (parts.length > 0 && isMatch(glob, parts.slice(1)));
  return parts.length > 0 && isMatchOfSegment([...first], [...parts[0]!]) && isMatch(others, parts.slice(1));
}

function isMatchOfSegment([first, ...others]: readonly string[], text: readonly string[]): boolean {
  if (first === undefined) return text.length === 0;
  if (first === "*") {
    return isMatchOfSegment(others, text) || (text.length > 0 && isMatchOfSegment([first, ...others], text.slice(1)));
  }
  return text.length > 0 && (first === "?" || first === text[0]) && isMatchOfSegment(others, text.slice(1));
}

const partsOf = (text: string) => text.split("/").filter((part) => part !== "" && part !== ".");

fuzz("a pattern names the paths that it says", {
  input: fc.tuple(glob.filter((text) => text.length < 10), path.filter((text) => text.length < 12)),
  runs: 4_000,
  check([pattern, name]) {
    assertEquals(matchesGlob(pattern, name), isMatch(partsOf(pattern), partsOf(name)));
    if (matchesGlob(pattern, name)) assert(globOverlaps(pattern, name));
  },
});

fuzz("a pattern and a path of whatever length are matched at once", {
  input: fc.tuple(glob, path, fc.nat(60)),
  runs: 500,
  check([pattern, name, times]) {
    for (const each of [pattern.repeat(times), "*a".repeat(times) + "b", "**/".repeat(times)]) {
      matchesGlob(each, name.repeat(times));
      globOverlaps(each, "a".repeat(times));
    }
  },
});
