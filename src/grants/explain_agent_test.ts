import { assertEquals } from "@std/assert";
import { grantsWith } from "./arbitrary_fixture.ts";
import { findDanger } from "./explain_agent.ts";
import type { Grants } from "./grants.ts";
import type { ModelGrant } from "./model_grant.ts";

const tool = (name: string, grants: Partial<Grants>) => ({ name, grants: grantsWith(grants) });
const DATA = { fs: { mounts: [{ guest: "/data", mode: "ro" as const, host: "/home/docs" }] } };
const MODEL = { secrets: { KEY: ["https://a.example"] } } as unknown as ModelGrant;

Deno.test("findDanger: what it reads, what it holds and a way out, all three at once", () => {
  const danger = findDanger({ tools: [tool("read", DATA), tool("fetch", { net: ["https://a.b"] })], may_start: [] });
  assertEquals(danger, {
    untrusted_input: ["the tool read (/data)", "the tool fetch (https://a.b)"],
    private_data: ["the folder /home/docs"],
    way_out: ["https://a.b"],
  });
});

Deno.test("findDanger: none where one of the three is missing", () => {
  assertEquals(findDanger({ tools: [tool("read", DATA)], may_start: [] }), undefined);
  assertEquals(findDanger({ tools: [tool("fetch", { net: ["https://a.b"] })], may_start: [] }), undefined);
  assertEquals(findDanger({ tools: [], may_start: [], model: MODEL }), undefined);
  assertEquals(
    findDanger({ tools: [tool("read", DATA), tool("listen", { net: ["listen:80"] })], may_start: [] }),
    undefined,
  );
});

Deno.test("findDanger: a secret is private, who knocks at a door is a stranger, and a child with a network a way out", () => {
  const danger = findDanger({
    tools: [],
    model: MODEL,
    inputs: ["whoever reaches its door"],
    may_start: [{ name: "web", grants: grantsWith({ net: ["https://c.d"] }) }, { name: "gone" }],
  });
  assertEquals(danger, {
    untrusted_input: ["whoever reaches its door"],
    private_data: ["the secret KEY"],
    way_out: ["the capsule web (https://c.d)"],
  });
});

Deno.test("findDanger: a peer is a stranger to read and a way out, and its token is private", () => {
  const peer = { name: "far", url: "https://far.example/a2a", origin: "https://far.example", token: "FAR" };
  assertEquals(findDanger({ tools: [], may_start: [], peers: [peer] }), {
    untrusted_input: ["the answers of the peer far"],
    private_data: ["the secret FAR"],
    way_out: ["the peer far (https://far.example)"],
  });
  const { token: _, ...open } = peer;
  assertEquals(findDanger({ tools: [], may_start: [], peers: [open] }), undefined);
});
