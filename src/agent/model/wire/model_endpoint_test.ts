import { assertEquals, assertThrows } from "@std/assert";
import { CapsuleError } from "../../../base/mod.ts";
import { credentialsOf, endpointsOf, urlBelow } from "./model_endpoint.ts";

Deno.test("endpointsOf labels endpoints by place and origin, and urlBelow keeps path and query", () => {
  const uri = "https://a.example/v1/?api-version=2&k=hush, http://127.0.0.1:9/, https://b.example/x/v1";
  const endpoints = endpointsOf({ uri, headers: [] });
  assertEquals(endpoints.map(({ label, index, transport }) => [label, index, transport]), [
    ["https://a.example (1 of 3)", 0, "https"],
    ["http://127.0.0.1:9 (2 of 3)", 1, "http"],
    ["https://b.example (3 of 3)", 2, "https"],
  ]);
  assertEquals(endpoints.map((endpoint) => urlBelow(endpoint, "/messages")), [
    "https://a.example/v1/messages?api-version=2&k=hush",
    "http://127.0.0.1:9/messages",
    "https://b.example/x/v1/messages",
  ]);
  const error = assertThrows(() => endpointsOf({ uri: "http://a.example?k=hush", headers: [] }), CapsuleError, "https");
  assertEquals([error.code, error.message.includes("hush")], ["model.rejected", false]);
});

Deno.test("credentialsOf: the token goes as the dialect wants it, unless a header of the operator's says otherwise", () => {
  const of = (
    dialect: "openai" | "anthropic",
    headers: [string, string][] = [],
    token?: string,
  ) => [
    ...credentialsOf({ uri: "https://a.example?k=q", headers, ...(token === undefined ? {} : { token }) }, dialect)
      .headers,
  ];
  assertEquals(of("openai", [], "t"), [["authorization", "Bearer t"]]);
  assertEquals(of("anthropic", [], "t"), [["x-api-key", "t"]]);
  assertEquals([of("openai"), of("anthropic", [], "")], [[], []]);
  assertEquals(of("openai", [["Authorization", "Basic u"]], "t"), [["authorization", "Basic u"]]);
  const { secrets } = credentialsOf({ uri: "https://a.example?k=q", headers: [["a", "b"]], token: "t" }, "openai");
  assertEquals(secrets, ["t", "b", "q"]);
  for (const name of ["Host", "content-length", "Transfer-Encoding", "connection", "a b", "a\n", ""]) {
    const error = assertThrows(() => of("openai", [[name, "hush"]]), CapsuleError);
    assertEquals([error.code, error.message.includes("hush"), error.cause], ["model.rejected", false, undefined]);
  }
});
