import { assert, assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import { findCredential, isCredentialName } from "./credentials.ts";
import { guestPathsOverlap, normalizeGuestPath } from "./guest_path.ts";

Deno.test("isCredentialName: the usual names of credentials, and not their look-alikes", () => {
  const credentials = "OPENAI_API_KEY GITHUB_TOKEN CLIENT_SECRET AWS_REGION aws_profile DB_PASSWORD PGPASSWORD KEY " +
    "GOOGLE_APPLICATION_CREDENTIALS DATABASE_URL SESSION_COOKIE NPM_CONFIG__AUTH SECRET_THING SSH_AUTH_SOCK";
  for (const name of credentials.split(" ")) assert(isCredentialName(name), name);
  const plain = "LANG LC_ALL PATH HOME TZ TERM PWD OLDPWD KEYBOARD MONKEY TOKENIZER AUTHOR NO_COLOR DEBUG LAWS_X";
  for (const name of plain.split(" ")) assert(!isCredentialName(name), name);
});

Deno.test("findCredential: prose and paths are no credentials", () => {
  const plain = [
    "Counts words; basic internationalization of a bearer of bad news",
    "api key: see the page, password: required",
    "https://example.com:8080/a@b",
    "task-force-of-sixteen-people",
    "/data/sk-learn/models",
    "hf_models",
  ];
  for (const text of plain) assertEquals(findCredential(text), undefined, text);
});

Deno.test("findCredential: an enemy's text takes no quadratic time", () => {
  for (const unit of ["eyJ", "a://", "sk-", "-----BEGIN ", "bearer "]) {
    assertEquals(findCredential(unit.repeat(Math.floor(16_384 / unit.length))), undefined, unit);
  }
});

Deno.test("normalizeGuestPath: one form for each path; what climbs or is not absolute is refused", () => {
  assertEquals(["/a", "//a///b/", "/./a/.", "/a b"].map(normalizeGuestPath), ["/a", "/a/b", "/a", "/a b"]);
  for (const path of ["", "a", "./a", "/", "//", "/.", "/a/..", "/..", "/a:b", "/a\0", "/a\nb", "/a\\b"]) {
    assertEquals(assertThrows(() => normalizeGuestPath(path), CapsuleError).code, "grant.bad_mount", path);
  }
});

Deno.test("guestPathsOverlap: by whole segments", () => {
  assert(guestPathsOverlap("/a", "/a") && guestPathsOverlap("/a", "/a/b") && guestPathsOverlap("/a/b", "/a"));
  assert(!guestPathsOverlap("/a", "/ab") && !guestPathsOverlap("/a/b", "/a/c"));
});
