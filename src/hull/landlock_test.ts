import { assert, assertEquals } from "@std/assert";
import type { HullRules } from "../base/mod.ts";
import { handledBy, toPathRules, toPortRules } from "./landlock.ts";

const RULES: HullRules = {
  read: ["/r"],
  write: ["/w"],
  execute: ["/x"],
  symlinks: false,
  unixSockets: false,
  tty: false,
  tcpConnect: [],
  tcpBind: [],
  udp: false,
  seccomp: false,
};
const BIT = { execute: 0, writeFile: 1, readFile: 2, makeSock: 9, makeSym: 12, refer: 13, truncate: 14, ioctlDev: 15 };
const DEVICES = [6, 10, 11]; // MAKE_CHAR, MAKE_FIFO, MAKE_BLOCK

const has = (rights: bigint, bit: number) => (rights >> BigInt(bit) & 1n) === 1n;
const rightsOf = (rules: HullRules, path: string) => toPathRules(rules, [0]).find((rule) => rule.path === path)!.rights;

Deno.test("handledBy: each ABI handles exactly what linux/landlock.h gives it", () => {
  const found = [1, 2, 3, 4, 5, 6, 7, 8].map(handledBy).map(({ fs, net, scoped, size }) => [fs, net, scoped, size]);
  assertEquals(found, [
    [0x1fffn, 0n, 0n, 8],
    [0x3fffn, 0n, 0n, 8],
    [0x7fffn, 0n, 0n, 8],
    [0x7fffn, 3n, 0n, 16],
    [0xffffn, 3n, 0n, 16],
    [0xffffn, 3n, 3n, 24],
    [0xffffn, 3n, 3n, 24],
    [0xffffn, 3n, 3n, 24],
  ]);
});

Deno.test("toPathRules: reading neither writes nor runs, writing never runs nor makes devices", () => {
  const [read, write, execute] = ["/r", "/w", "/x"].map((path) => rightsOf(RULES, path)) as [bigint, bigint, bigint];
  assertEquals(read, 0xcn);
  for (const bit of [BIT.writeFile, BIT.readFile, BIT.refer, BIT.truncate]) assert(has(write, bit));
  for (const bit of [BIT.execute, BIT.ioctlDev, BIT.makeSym, BIT.makeSock, ...DEVICES]) assert(!has(write, bit));
  assertEquals(execute, 0xdn);
});

Deno.test("toPathRules: links, sockets and the terminal only with their flag", () => {
  assert(has(rightsOf({ ...RULES, symlinks: true }, "/w"), BIT.makeSym));
  assert(!has(rightsOf({ ...RULES, symlinks: true }, "/r"), BIT.makeSym));
  assert(has(rightsOf({ ...RULES, unixSockets: true }, "/w"), BIT.makeSock));
  const terminals = toPathRules({ ...RULES, tty: true }, [0, 2]).slice(3);
  const rights = 1n << 1n | 1n << 2n | 1n << 15n;
  assertEquals(terminals, [0, 2].map((fd) => ({ path: `/proc/self/fd/${fd}`, rights, follow: true })));
  assertEquals(toPathRules(RULES, [0, 2]).length, 3);
});

Deno.test("toPortRules: connect is not bind", () => {
  assertEquals(toPortRules({ ...RULES, tcpConnect: [443], tcpBind: [8080] }), [
    { port: 443, rights: 2n },
    { port: 8080, rights: 1n },
  ]);
  assertEquals(toPortRules(RULES), []);
});
