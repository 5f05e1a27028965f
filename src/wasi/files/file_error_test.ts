import { assertEquals } from "@std/assert";
import { fileErrorOf } from "./file_error.ts";

Deno.test("fileErrorOf: by name, by the kernel's number, by class, else io", () => {
  const coded = (code: string) => Object.assign(new Error("x"), { code });
  const names = {
    ENOTEMPTY: "not-empty",
    EXDEV: "cross-device",
    ENOSPC: "insufficient-space",
    EDQUOT: "quota",
    EFBIG: "file-too-large",
    EMFILE: "insufficient-memory",
    ENAMETOOLONG: "name-too-long",
    ELOOP: "loop",
    EBUSY: "busy",
    ETXTBSY: "text-file-busy",
    EROFS: "read-only",
    EPERM: "not-permitted",
    EACCES: "access",
    ENXIO: "no-such-device",
  };
  for (const [name, code] of Object.entries(names)) assertEquals(fileErrorOf(coded(name)), code);
  const numbers = { 6: "no-such-device", 18: "cross-device", 26: "text-file-busy", 27: "file-too-large", 122: "quota" };
  for (const [number, code] of Object.entries(numbers)) {
    assertEquals(fileErrorOf(new Error(`Failed (os error ${number}): open '/x'`)), code);
  }
  assertEquals(fileErrorOf(new Deno.errors.NotCapable("Requires read access")), "not-permitted");
  assertEquals(fileErrorOf(new Deno.errors.BadResource("Bad resource ID")), "bad-descriptor");
  assertEquals(fileErrorOf("not-empty"), "not-empty");
  for (const other of ["constructor", "__proto__", "NOTHING", undefined, null, {}, new Error("odd"), coded("EWHAT")]) {
    assertEquals(fileErrorOf(other), "io");
  }
});

Deno.test({
  name: "fileErrorOf: of errors that the system really gives",
  ignore: Deno.build.os !== "linux",
  fn() {
    const code = (act: () => unknown) => {
      try {
        act();
      } catch (error) {
        return fileErrorOf(error);
      }
      return undefined;
    };
    assertEquals(code(() => Deno.openSync(Deno.execPath(), { write: true })), "text-file-busy");
    using full = Deno.openSync("/dev/full", { write: true });
    assertEquals(code(() => full.writeSync(new Uint8Array(1))), "insufficient-space");
    assertEquals(code(() => full.readSync(new Uint8Array(1))), "bad-descriptor");
    assertEquals(code(() => Deno.lstatSync(`/${"x".repeat(256)}`)), "name-too-long");
  },
});
