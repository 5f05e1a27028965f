import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { isSameAddress, parseAddress } from "./address.ts";
import { type AddressClass, classifyAddress } from "./address_class.ts";

const classOf = (text: string) => classifyAddress(parseAddress(text)!);

Deno.test("classifyAddress: every range of IPv4, its first and last address and its neighbours", () => {
  const rows: [first: string, last: string, kind: AddressClass, before?: AddressClass, after?: AddressClass][] = [
    ["0.0.0.0", "0.0.0.0", "unspecified", "public", "reserved"],
    ["0.0.0.1", "0.255.255.255", "reserved", "unspecified", "public"],
    ["10.0.0.0", "10.255.255.255", "private"],
    ["100.64.0.0", "100.100.100.199", "shared", "public", "metadata"],
    ["100.100.100.201", "100.127.255.255", "shared", "metadata", "public"],
    ["127.0.0.0", "127.255.255.255", "loopback"],
    ["168.63.129.16", "168.63.129.16", "metadata"],
    ["169.254.0.0", "169.254.169.253", "link-local", "public", "metadata"],
    ["169.254.169.254", "169.254.169.254", "metadata", "link-local", "link-local"],
    ["169.254.170.2", "169.254.170.2", "metadata", "link-local", "link-local"],
    ["169.254.170.3", "169.254.255.255", "link-local", "metadata", "public"],
    ["172.16.0.0", "172.31.255.255", "private"],
    ["192.0.0.0", "192.0.0.191", "reserved", "public", "metadata"],
    ["192.0.0.193", "192.0.0.255", "reserved", "metadata", "public"],
    ["192.0.2.0", "192.0.2.255", "documentation"],
    ["192.88.99.0", "192.88.99.255", "tunnel"],
    ["192.168.0.0", "192.168.255.255", "private"],
    ["198.18.0.0", "198.19.255.255", "benchmark"],
    ["198.51.100.0", "198.51.100.255", "documentation"],
    ["203.0.113.0", "203.0.113.255", "documentation"],
    ["224.0.0.0", "239.255.255.255", "multicast", "public", "reserved"],
    ["240.0.0.0", "255.255.255.254", "reserved", "multicast", "broadcast"],
    ["255.255.255.255", "255.255.255.255", "broadcast", "reserved", "public"],
  ];
  for (const [first, last, kind, before = "public", after = "public"] of rows) {
    assertEquals([classOf(first), classOf(last)], [kind, kind], first);
    if (first !== "0.0.0.0") assertEquals(classOf(dotted(numberOf(first) - 1)), before, `before ${first}`);
    if (last !== "255.255.255.255") assertEquals(classOf(dotted(numberOf(last) + 1)), after, `after ${last}`);
  }
});

Deno.test("classifyAddress: IPv4 agrees with a list of ranges by number, for any address", () => {
  const special = [
    ...["0.0.0.0 0.255.255.255", "10.0.0.0 10.255.255.255", "100.64.0.0 100.127.255.255", "127.0.0.0 127.255.255.255"],
    ...["168.63.129.16 168.63.129.16", "169.254.0.0 169.254.255.255", "172.16.0.0 172.31.255.255"],
    ...["192.0.0.0 192.0.0.255", "192.0.2.0 192.0.2.255", "192.88.99.0 192.88.99.255", "192.168.0.0 192.168.255.255"],
    ...["198.18.0.0 198.19.255.255", "198.51.100.0 198.51.100.255", "203.0.113.0 203.0.113.255"],
    "224.0.0.0 255.255.255.255",
  ].map((row) => row.split(" ").map(numberOf));
  const agrees = (value: number) =>
    (classOf(dotted(value)) !== "public") === special.some(([first, last]) => value >= first! && value <= last!);
  fc.assert(fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), agrees), { numRuns: 20_000 });
});

Deno.test("classifyAddress: IPv6 by prefix; what is no global unicast is never public", () => {
  const rows: [string, AddressClass][] = [
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::2", "reserved"],
    ["::7f00:1", "reserved"], // the deprecated form that holds 127.0.0.1
    ["::8.8.8.8", "reserved"],
    ["::ffff:8.8.8.8", "public"],
    ["::ffff:127.0.0.1", "loopback"],
    ["::ffff:10.1.2.3", "private"],
    ["::ffff:a9fe:a9fe", "metadata"],
    ["::ffff:0:127.0.0.1", "reserved"],
    ["64:ff9b::8.8.8.8", "public"],
    ["64:ff9b::7f00:1", "loopback"],
    ["64:ff9b::169.254.169.254", "metadata"],
    ["64:ff9b:0:0:1::8.8.8.8", "reserved"],
    ["64:ff9b:1::8.8.8.8", "reserved"],
    ["100::1", "reserved"],
    ["1fff:ffff::", "reserved"],
    ["2000::", "public"],
    ["2001::1", "tunnel"],
    ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "tunnel"],
    ["2001:1::1", "reserved"],
    ["2001:2::1", "benchmark"],
    ["2001:10::1", "reserved"],
    ["2001:1ff:ffff::", "reserved"],
    ["2001:200::", "public"],
    ["2001:db7:ffff::", "public"],
    ["2001:db8::1", "documentation"],
    ["2001:db9::", "public"],
    ["2002:7f00:1::", "tunnel"],
    ["2003::", "public"],
    ["2606:4700::6810:1", "public"],
    ["3ffe:ffff::", "public"],
    ["3fff::1", "documentation"],
    ["3fff:fff:ffff::", "documentation"],
    ["3fff:1000::", "public"],
    ["4000::", "reserved"],
    ["5f00::1", "reserved"],
    ["fbff::", "reserved"],
    ["fc00::1", "private"],
    ["fd00:ec2::254", "metadata"],
    ["fd20:ce::254", "metadata"],
    ["fdff:ffff::1", "private"],
    ["fe00::", "reserved"],
    ["fe80::1", "link-local"],
    ["febf:ffff::1", "link-local"],
    ["fec0::1", "private"],
    ["feff::1", "private"],
    ["ff02::1", "multicast"],
    ["ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"],
  ];
  assertEquals(rows.map(([text]) => [text, classOf(text)]), rows);
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(fc.property(bytes, (address) => {
    const isTranslated = address[1] === 0x64 && address[2] === 0xff && address[3] === 0x9b;
    return classifyAddress(address) !== "public" || (address[0]! >> 5) === 1 || isTranslated;
  }));
});

Deno.test("parseAddress: what it reads it reads back, and a disguise is no address", () => {
  fc.assert(fc.property(fc.ipV4(), (text) => assertEquals([...parseAddress(text)!].join("."), text)));
  fc.assert(fc.property(fc.ipV6(), (text) => {
    const address = parseAddress(text);
    assert(address !== undefined, text);
    const full = [...address].map((byte) => byte.toString(16).padStart(2, "0")).join("").replace(/(.{4})(?!$)/g, "$1:");
    if (address.length === 16) assert(isSameAddress(full, text), text);
  }));
  const wrong = [
    ...["", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "0x7f.0.0.1", "127.1", "2130706433", "1.2.3.4 ", "１.2.3.4"],
    ...[":", ":::", "1::2::3", "::12345", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8", "::1%lo", "[::1]"],
    ...["::1.2.3.4:1", "1.2.3.4::", "::1.2.3", ":1:2:3:4:5:6:7", "g::", "localhost"],
  ];
  assertEquals(wrong.filter((text) => parseAddress(text) !== undefined), []);
  assert(isSameAddress("::FFFF:1.2.3.4", "1.2.3.4") && isSameAddress("2001:DB8:0::1", "2001:db8::1"));
  assert(!isSameAddress("1.2.3.4", "1.2.3.5") && !isSameAddress("x", "x"));
});

function numberOf(text: string): number {
  return text.split(".").reduce((sum, octet) => sum * 256 + Number(octet), 0);
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map((bits) => (value >>> bits) & 255).join(".");
}
