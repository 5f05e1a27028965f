import { assert, assertEquals } from "@std/assert";
import { describeNetworkError, quoteServer } from "./attempt_failure.ts";

Deno.test("quoteServer shows a server's words on one safe line, and none that repeat a secret", () => {
  const secret = "sk-0123456789abcdef";
  assertEquals(quoteServer("", [secret]), "");
  assertEquals(quoteServer(" \n", [secret]), "");
  assertEquals(
    quoteServer("too many\n\ttokens\u001b[2J\u202e", [secret]),
    " (it says: too many tokens\\u{1b}[2J\\u{202e})",
  );
  assertEquals(quoteServer("x".repeat(999), []).length, " (it says: )".length + 301);
  const left = " (its words are left out: they repeat a credential)";
  for (const text of [secret, `key ${secret}!`, "sk-01234***", "…89abcdef", `a\n${secret}`]) {
    assertEquals(quoteServer(text, ["other-secret", secret]), left);
  }
  assertEquals(quoteServer("a token of 7: sk-0123", [secret]), " (it says: a token of 7: sk-0123)");
  assertEquals(quoteServer("the word is open", ["open", "a"]), left);
  assertEquals(quoteServer("a word", ["a", ""]), " (it says: a word)");
});

Deno.test("describeNetworkError says what happened, and nothing of the error's own text", () => {
  const of = (text: string) => describeNetworkError(new TypeError(text));
  const url = "error sending request for url (https://example.com/dns error?k=proxy): client error (Connect): ";
  assertEquals(of(`${url}dns error: failed to lookup`), "its name cannot be resolved");
  assertEquals(of(`${url}tcp connect error: Connection refused (os error 111)`), "it refused the connection");
  assertEquals(of(`${url}invalid peer certificate: UnknownIssuer`), "its certificate is not trusted");
  assertEquals(of(`${url}received corrupt message of type InvalidContentType`), "it does not speak TLS as it should");
  assertEquals(of(`${url}something new`), "the connection failed");
  for (const odd of [undefined, null, "text", {}]) assertEquals(describeNetworkError(odd), "the connection failed");
  assert(!of(`${url}secret`).includes("secret"));
});
