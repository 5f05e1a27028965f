import { assertEquals } from "@std/assert";
import type { HostCall } from "../protocol/mod.ts";
import { HostCalls } from "./host_calls.ts";

Deno.test("host calls: each answer finds its call, in any order; one that nobody waits for is dropped", async () => {
  const sent: HostCall[] = [];
  const calls = new HostCalls((call) => sent.push(call));
  const first = calls.resolve("a.example");
  const second = calls.resolve("b.example");
  assertEquals(sent.map(({ id, args }) => [id, args.name]), [[0, "a.example"], [1, "b.example"]]);
  calls.settle({ id: 9, error: "denied" });
  calls.settle({ id: 1, error: "denied" });
  calls.settle({ id: 0, value: { addresses: ["192.0.2.1"] } });
  calls.settle({ id: 0, error: "closed" });
  assertEquals(await second, { ok: false, error: "denied" });
  assertEquals(await first, { ok: true, addresses: ["192.0.2.1"] });
});
