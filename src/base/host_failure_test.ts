import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { asHostFailure, CapsuleError, errorCodeOf, hostHint } from "./mod.ts";

Deno.test("asHostFailure: what a host is short of is host.failed with a way out, a mistake of ours stays one", () => {
  const full = new Error("No space left on device (os error 28): writefile '/a'");
  const failure = asHostFailure(full);
  assertEquals(errorCodeOf(failure), "host.failed");
  assert(failure instanceof CapsuleError);
  assertEquals(
    failure.message,
    "Use this host: No space left on device (os error 28): writefile '/a'; free space there",
  );
  assertEquals([failure.cause, failure.exitStatus], [full, 1]);
  const ours = [
    new TypeError("x is undefined"),
    new Error("No such file (os error 2)"),
    new Error("(os error 280)"),
    7,
  ];
  for (const error of ours) assertEquals([asHostFailure(error), hostHint(error)], [error, undefined]);
  const known = new CapsuleError("home.unwritable", "Write home: full (os error 28)");
  assertEquals(asHostFailure(known), known);
});

Deno.test("asHostFailure: errors of node:fs carry their number beside the words", () => {
  const open = Object.assign(new Error("EMFILE: too many open files, open '/a'"), { errno: -24, code: "EMFILE" });
  assertStringIncludes((asHostFailure(open) as Error).message, "raise the limit of open files (`ulimit -n`)");
  assertEquals(asHostFailure(Object.assign(new Error("ENOENT"), { errno: -2 })) instanceof CapsuleError, false);
});

Deno.test("asHostFailure: when cleaning up fails too, the first reason is told", () => {
  const cleaning = new Error("Too many open files (os error 24): readdir '/tmp/a'");
  const first = new CapsuleError("cell.start_failed", "Start a cell: it ended");
  assertEquals(asHostFailure(new SuppressedError(cleaning, first)), first);
  const failure = asHostFailure(new SuppressedError(first, new SuppressedError(first, cleaning)));
  assertStringIncludes((failure as Error).message, "ulimit -n");
});

Deno.test("asHostFailure: a folder that has no name in UTF-8", () => {
  const error = new Deno.errors.InvalidData('File name or path "/a/b\\xFF" is not valid UTF-8');
  assertStringIncludes((asHostFailure(error) as Error).message, "boll can name only what is UTF-8");
});
