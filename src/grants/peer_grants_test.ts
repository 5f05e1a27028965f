import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { CapsuleError } from "../base/mod.ts";
import type { AgentCapsule, Workspace } from "../manifest/mod.ts";
import { grantsWith } from "./arbitrary_fixture.ts";
import { peerSecrets, resolvePeers } from "./peer_grants.ts";

const FAR = { name: "far", url: "https://a.far.example/a2a", origin: "https://a.far.example", token: "FAR" };
const NEAR = { name: "near", url: "http://127.0.0.1:9", origin: "http://127.0.0.1:9" };
const capsule = { manifest: { peers: [FAR, NEAR] } } as unknown as AgentCapsule;

function resolve(net: readonly string[], secrets?: readonly string[]) {
  const workspace = { path: "/w/boll.jsonc", secrets, positions: { lineOf: () => 3 } } as unknown as Workspace;
  return resolvePeers({ capsule, grants: grantsWith({ net }), workspaces: [workspace] });
}

Deno.test("resolvePeers: a peer whose origin is granted, also by a wildcard; another is left out and said", () => {
  assertEquals(resolve([FAR.origin, NEAR.origin]), { peers: [FAR, NEAR], warnings: [] });
  assertEquals(resolve(["https://*.far.example", NEAR.origin]).peers, [FAR, NEAR]);
  const { peers, warnings } = resolve(["tcp://a.far.example:443", "https://a.far.example:8443", NEAR.origin]);
  assertEquals([peers, warnings], [[NEAR], ["Dropped the peer far: net has no https://a.far.example"]]);
});

Deno.test("resolvePeers: a workspace's list of secrets binds the token of a peer that is granted, and of no other", () => {
  assertEquals(resolve([FAR.origin], ["FAR"]).peers, [FAR]);
  const error = assertThrows(() => resolve([FAR.origin], ["OTHER"]), CapsuleError);
  assertEquals(error.code, "grant.exceeds_ceiling");
  assertStringIncludes(error.message, "/w/boll.jsonc:3");
  assertEquals(resolve([NEAR.origin], ["OTHER"]).peers, [NEAR]);
});

Deno.test("peerSecrets: each variable, and every origin that it goes to, once", () => {
  const other = { ...NEAR, token: "FAR" };
  assertEquals(peerSecrets([FAR, other, { ...FAR, name: "again" }, NEAR]), { FAR: [FAR.origin, NEAR.origin] });
});
