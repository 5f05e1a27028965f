import { assertEquals, assertThrows } from "@std/assert";
import { PUBLIC } from "../../egress/gate_fixture.ts";
import { thrown } from "../host_fixture.ts";
import { openNetFixture, refusal } from "../net/net_fixture.ts";
import { finish, lookUp } from "./socket_fixture.ts";

Deno.test("resolve-addresses: a granted name, whatever its scheme; any other is refused, told, and nobody is asked", async () => {
  const asked: string[] = [];
  await using net = openNetFixture({
    entries: ["https://a.example", "tcp://*.b.example:5", "listen:9"],
    resolve: (name) => {
      asked.push(name);
      return Promise.resolve([PUBLIC, "10.0.0.1"]);
    },
  });
  for (const name of ["A.example.", "x.b.example"]) {
    const stream = lookUp(net, name);
    assertEquals(thrown(() => stream.resolveNextAddress()), "would-block");
    assertEquals(await finish(stream, () => stream.resolveNextAddress()), { tag: "ipv4", val: [93, 184, 216, 34] });
    // A private address is not given out: no entry names it.
    assertEquals(stream.resolveNextAddress(), undefined);
  }
  for (const name of ["b.example", "secret.evil.example", "localhost"]) {
    assertEquals(thrown(() => lookUp(net, name)), "access-denied");
  }
  assertEquals(asked, ["a.example", "x.b.example"]);
  assertEquals(net.denials.map(({ asked }) => asked), [
    "resolve b.example",
    "resolve secret.evil.example",
    "resolve localhost",
  ]);
});

Deno.test("resolve-addresses: an address is its own answer, what is no name is an error", async () => {
  await using net = openNetFixture({ entries: [], names: {} });
  for (const [text, val] of [["192.0.2.7", [192, 0, 2, 7]], ["::ffff:192.0.2.7", [192, 0, 2, 7]]] as const) {
    const stream = lookUp(net, text);
    assertEquals(await finish(stream, () => stream.resolveNextAddress()), { tag: "ipv4", val });
  }
  const six = lookUp(net, "2001:db8::1");
  assertEquals(await finish(six, () => six.resolveNextAddress()), {
    tag: "ipv6",
    val: [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1],
  });
  for (const name of ["", "a b", "a/b", "127.1", "a..b"]) {
    assertEquals(thrown(() => lookUp(net, name)), "invalid-argument");
  }
  assertThrows(() => lookUp(net, 7 as unknown as string), TypeError);
});

Deno.test("resolve-addresses: a name without an address, and too many questions at once", async () => {
  await using net = openNetFixture({ entries: ["https://a.example"], names: {} });
  const stream = lookUp(net, "a.example");
  assertEquals(await refusal(() => finish(stream, () => stream.resolveNextAddress())), "name-unresolvable");
  const streams = Array.from({ length: 16 }, () => lookUp(net, "a.example"));
  assertEquals(thrown(() => lookUp(net, "a.example")), "temporary-resolver-failure");
  for (const one of streams) await refusal(() => finish(one, () => one.resolveNextAddress()));
});
