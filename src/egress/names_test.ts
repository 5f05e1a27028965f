import { assert, assertEquals, assertRejects } from "@std/assert";
import { Names, resolveBySystem } from "./names.ts";
import { Refusal } from "./refusal.ts";

const never = new AbortController().signal;

Deno.test("resolveBySystem: asks the system, which knows addresses and localhost", async () => {
  assertEquals(await resolveBySystem("127.0.0.1"), ["127.0.0.1"]);
  const found = await resolveBySystem("localhost");
  assert(found.length > 0 && found.every((address) => ["127.0.0.1", "::1"].includes(address)));
});

Deno.test("Names.lookUp: only addresses, at most 32, in their order; none is an error", async () => {
  const many = Array.from({ length: 40 }, (_, index) => `93.184.216.${index}`);
  const answers: Record<string, string[]> = {
    "a.test": ["other.test", "127.1", "::1", "fe80::1%lo"],
    "b.test": many,
    "c.test": ["x"],
  };
  const names = new Names((name) => Promise.resolve(answers[name]!));
  assertEquals(await names.lookUp("a.test", never), ["::1"]);
  assertEquals(await names.lookUp("b.test", never), many.slice(0, 32));
  await assertRejects(() => names.lookUp("c.test", never), Refusal, "no address");
  assertEquals(await new Names(() => Promise.reject(new Error("asked"))).lookUp("localhost", never), [
    "127.0.0.1",
    "::1",
  ]);
});

Deno.test("Names.lookUp: beyond 128 questions under way the next is refused; when one is answered it is asked", async () => {
  const waiting: (() => void)[] = [];
  const names = new Names(() => new Promise((settle) => waiting.push(() => settle(["::1"]))));
  const asked = Array.from({ length: 128 }, () => names.lookUp("a.test", never));
  const error = await names.lookUp("a.test", never).then(() => undefined, (error) => error.error);
  assertEquals([error, waiting.length], ["dns-error", 128]);
  waiting[0]!();
  await asked[0];
  const again = names.lookUp("a.test", never);
  await Promise.resolve();
  for (const answer of waiting.splice(0)) answer();
  assertEquals((await Promise.all([...asked, again])).length, 129);
});

Deno.test("Names.learn: the latest 1024 addresses and 16 names of each are kept", () => {
  const names = new Names();
  for (let index = 0; index < 1025; index++) names.learn("a.test", [`10.0.${index >> 8}.${index & 255}`]);
  assertEquals([names.namesOf("10.0.0.0"), names.namesOf("10.0.0.1"), names.namesOf("10.0.4.0")], [[], ["a.test"], [
    "a.test",
  ]]);
  for (let index = 0; index < 17; index++) names.learn(`${index}.test`, ["::1"]);
  assertEquals([names.namesOf("::1").length, names.namesOf("::1")[0]], [16, "1.test"]);
});
