/** What the tests' own datagram servers say. */

/** By the name's first word; whatever is asked first for `changing-…` is public, and then inside. */
export function addressesOf(name: string, type: number, isFirst: boolean): number[][] {
  const [kind] = name.split("-");
  const loopback = [127, 0, 0, 1];
  const V4: Record<string, number[]> = { v4: loopback, meta: [169, 254, 169, 254], ten: [10, 255, 255, 1] };
  if (kind === "changing") return type === 1 ? [isFirst ? [93, 184, 216, 34] : loopback] : [];
  if (type === 28 && kind === "v6") return [[...Array(15).fill(0), 1]];
  if (type === 28 && kind === "mapped") return [[...Array(10).fill(0), 255, 255, ...loopback]];
  if (type !== 1 || kind === "v6" || kind === "mapped") return [];
  return [V4[kind!] ?? loopback];
}

/** The first question of a query, and where it ends. */
export function readQuestion(query: Uint8Array): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(String.fromCharCode(...query.subarray(at + 1, at + 1 + length)));
    at += length + 1;
  }
  return { name: labels.join(".").toLowerCase(), type: query[at + 2]!, end: at + 5 };
}

/** The answer to a query whose question ends there. */
export function makeAnswer(query: Uint8Array, end: number, addresses: number[][]): Uint8Array {
  // A pointer to the question's name, the type, class IN, time to live 0.
  const records = addresses.flatMap((
    data,
  ) => [0xc0, 12, 0, data.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length, ...data]);
  const head = [query[0]!, query[1]!, 0x85, 0x80, 0, 1, 0, addresses.length, 0, 0, 0, 0];
  return Uint8Array.from([...head, ...query.subarray(12, end), ...records]);
}

/** "None of your versions" (RFC 9000 §17.2.1), which ends a client's handshake at once. */
export function refuseQuic(first: Uint8Array): Uint8Array | undefined {
  const toLength = first[5];
  if (toLength === undefined || (first[0]! & 0x80) === 0) return undefined;
  const to = first.subarray(6, 6 + toLength);
  const fromLength = first[6 + toLength]!;
  const from = first.subarray(7 + toLength, 7 + toLength + fromLength);
  return Uint8Array.from([0x80, 0, 0, 0, 0, fromLength, ...from, toLength, ...to, 0x1a, 0x2a, 0x3a, 0x4a]);
}
