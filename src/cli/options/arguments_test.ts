import { assertEquals } from "@std/assert";
import * as fc from "fast-check";
import { type ArgumentRules, readArguments, usageError } from "./arguments.ts";

const RULES: ArgumentRules = {
  name: "run",
  operands: { min: 1, max: 1, rest: true, names: ["CAPSULE"] },
  options: [
    { name: "mount", value: "HOST:GUEST", repeatable: true, summary: "" },
    { name: "deadline", value: "DURATION", summary: "" },
    { name: "json", summary: "" },
  ],
  refused: { net: "not supported yet" },
};

const read = (...argv: string[]) => readArguments(RULES, argv);
const problems = (...argv: string[]) => read(...argv).problems.map(({ code, message }) => `${code}: ${message}`);

Deno.test("readArguments: both forms of a value, before and after the operand", () => {
  const { args, problems } = read("--mount", "a:/a", "cap", "--mount=b:/b=c", "--json", "--deadline", "5s");
  assertEquals(problems, []);
  assertEquals(args.operands, ["cap"]);
  assertEquals(args.values("mount"), ["a:/a", "b:/b=c"]);
  assertEquals([args.value("deadline"), args.has("json"), args.has("quiet")], ["5s", true, false]);
  assertEquals(args.rest, []);
});

Deno.test("readArguments: what follows the operand's flags belongs to the guest, verbatim", () => {
  assertEquals(read("cap", "--", "--json", "-x", "--").args.rest, ["--json", "-x", "--"]);
  assertEquals(read("cap", "--json", "a", "--mount", "--").args.rest, ["a", "--mount", "--"]);
  assertEquals(read("--", "cap", "--json").args.rest, ["--json"]);
  assertEquals(read("--", "--json").args.operands, ["--json"]);
  assertEquals(read("cap", "a", "--json").wantsJson, false);
  assertEquals(read("cap", "--json", "a").wantsJson, true);
  assertEquals(read("cap", "", "-").args.rest, ["", "-"]);
  assertEquals(read("cap", "--", "--nonsense").problems, []);
});

Deno.test("readArguments: `-` is an operand, and numbers stay text", () => {
  assertEquals(read("-").args.operands, ["-"]);
  assertEquals(read("007", "0x10").args.rest, ["0x10"]);
});

Deno.test("readArguments: unknown flags are refused with the nearest one, known ones with their reason", () => {
  assertEquals(problems("cap", "--mout", "a:/a"), [
    'usage.unknown_flag: Read "--mout": no such flag, did you mean --mount?',
  ]);
  assertEquals(problems("cap", "-json"), ['usage.unknown_flag: Read "-json": no such flag, did you mean --json?']);
  assertEquals(problems("cap", "-x"), ['usage.unknown_flag: Read "-x": no such flag']);
  assertEquals(problems("cap", "--\x1b[31m=1"), ['usage.unknown_flag: Read "--\\u{1b}[31m": no such flag']);
  assertEquals(problems("cap", "--net", "--net=x"), [
    "usage.unknown_flag: Read --net: not supported yet",
    "usage.unknown_flag: Read --net: not supported yet",
  ]);
  for (const name of ["__proto__", "constructor", "toString", "mount.x"]) {
    assertEquals(read("cap", `--${name}`).problems.map(({ code }) => code), ["usage.unknown_flag"]);
  }
});

Deno.test("readArguments: a value that is missing, empty, surplus or repeated", () => {
  const missing = "usage.bad_value: Read --deadline: found no value, wanted --deadline=DURATION";
  assertEquals(problems("cap", "--deadline"), [missing]);
  assertEquals(problems("cap", "--deadline", "--json"), [missing]);
  assertEquals(problems("cap", "--deadline="), [missing]);
  assertEquals(problems("cap", "--deadline", ""), [missing]);
  assertEquals(problems("cap", "--json=1"), ["usage.bad_value: Read --json: found a value, wanted none"]);
  assertEquals(problems("cap", "--json", "--json"), ["usage.bad_value: Read --json: found it twice, wanted it once"]);
  assertEquals(problems("cap", "--deadline=1", "--deadline=1"), [
    "usage.bad_value: Read --deadline: found it twice, wanted it once",
  ]);
  assertEquals(read("cap", "--deadline=-5").args.value("deadline"), "-5");
});

Deno.test("readArguments: operands that are missing or surplus", () => {
  assertEquals(problems(), ["usage.missing_argument: Read CAPSULE: found none"]);
  const check = { ...RULES, operands: { min: 1, max: 1, names: ["CAPSULE"] } };
  assertEquals(readArguments(check, ["a", "b", "c"]).problems.map(({ message }) => message), [
    'Read arguments: found "b", wanted CAPSULE',
    'Read arguments: found "c", wanted CAPSULE',
  ]);
  const none = { ...RULES, operands: { min: 0, max: 0, names: [] } };
  assertEquals(readArguments(none, ["a"]).problems[0]!.message, 'Read arguments: found "a", wanted no argument');
});

Deno.test("readArguments: help and json are honoured beside problems; help may be repeated", () => {
  const { wantsHelp, wantsJson, problems } = read("--nonsense", "-h", "--help", "--json");
  assertEquals([wantsHelp, wantsJson, problems.length], [true, true, 2]);
});

Deno.test("readArguments: any argv is read without an exception, and the guest's part comes back whole", () => {
  const argument = fc.oneof(fc.string(), fc.constantFrom("--", "-", "--json", "--mount", "--mount=x", "-h", "--net"));
  fc.assert(fc.property(fc.array(argument), (argv) => {
    const { args } = readArguments(RULES, ["cap", "--", ...argv]);
    assertEquals(args.rest, argv);
    assertEquals(readArguments(RULES, argv).args.operands.length <= 1, true);
  }));
});

Deno.test("usageError: one problem is the message, several are listed", () => {
  const one = usageError("run", read("cap", "--deadline").problems);
  assertEquals(one.message, "Read --deadline: found no value, wanted --deadline=DURATION; see `boll run --help`");
  const two = usageError("run", read("--nonsense").problems);
  assertEquals([two.code, two.exitStatus], ["usage.unknown_flag", 2]);
  assertEquals(two.message, "Read arguments: found 2 problems; see `boll run --help`");
  assertEquals(two.problems, ['Read "--nonsense": no such flag', "Read CAPSULE: found none"]);
});
