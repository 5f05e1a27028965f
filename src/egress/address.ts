/** An IP address: 4 bytes, or 16. An IPv4 address mapped into IPv6 is that IPv4 address: the kernel dials it so. */
export type Address = Uint8Array;

/** The address that a text names in dotted decimal or IPv6 notation, without brackets or zone; undefined otherwise. */
export function parseAddress(text: string): Address | undefined {
  if (!text.includes(":")) return parseIpv4(text);
  const bytes = parseIpv6(text);
  return bytes !== undefined && isMapped(bytes) ? bytes.slice(12) : bytes;
}

/** Whether two texts name one address. */
export function isSameAddress(left: string, right: string): boolean {
  const [a, b] = [parseAddress(left), parseAddress(right)];
  return a !== undefined && b !== undefined && a.length === b.length && a.every((byte, index) => byte === b[index]);
}

function isMapped(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
}

function parseIpv4(text: string): Address | undefined {
  const octets = text.split(".");
  const isAddress = octets.length === 4 &&
    octets.every((octet) => /^(0|[1-9]\d{0,2})$/.test(octet) && Number(octet) <= 255);
  return isAddress ? Uint8Array.from(octets, Number) : undefined;
}

function parseIpv6(text: string): Address | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0]!);
  const tail = halves.length === 2 ? parseGroups(halves[1]!) : [];
  if (head === undefined || tail === undefined) return undefined;
  // An embedded IPv4 address may only end the whole.
  if (halves.length === 2 && halves[0]!.includes(".")) return undefined;
  const missing = 16 - head.length - tail.length;
  if (halves.length === 2 ? missing < 2 : missing !== 0) return undefined;
  return Uint8Array.from([...head, ...new Array<number>(missing).fill(0), ...tail]);
}

function parseGroups(text: string): number[] | undefined {
  if (text === "") return [];
  const groups = text.split(":");
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    if (group.includes(".")) {
      const embedded = index === groups.length - 1 ? parseIpv4(group) : undefined;
      if (embedded === undefined) return undefined;
      bytes.push(...embedded);
    } else {
      if (!/^[0-9a-f]{1,4}$/i.test(group)) return undefined;
      const value = parseInt(group, 16);
      bytes.push(value >> 8, value & 255);
    }
  }
  return bytes.length <= 16 ? bytes : undefined;
}
