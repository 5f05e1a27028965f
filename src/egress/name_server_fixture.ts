import { createSocket } from "node:dgram";
import type { Resolve } from "./mod.ts";

/** A name server on loopback, UDP, whose answer to each question is the next of a list (the last one stays). */
export interface NameServer extends AsyncDisposable {
  readonly port: number;
  /** The questions so far, `NAME TYPE`. */
  readonly questions: string[];
}

const TYPES: Readonly<Record<number, "A" | "AAAA">> = { 1: "A", 28: "AAAA" };

/** Answers: name → type → one list of addresses per question. IPv6 addresses in full, eight groups. */
export async function openNameServer(
  answers: Record<string, Partial<Record<"A" | "AAAA", string[][]>>>,
): Promise<NameServer> {
  const questions: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query: Uint8Array, sender: { address: string; port: number }) => {
    const { name, type, end } = readQuestion(query);
    questions.push(`${name} ${type}`);
    const list = answers[name]?.[type];
    const found = (list !== undefined && list.length > 1 ? list.shift() : list?.[0]) ?? [];
    socket.send(makeAnswer(query, end, found, answers[name] !== undefined), sender.port, sender.address);
  });
  await new Promise<void>((settle) => socket.bind(0, "127.0.0.1", () => settle()));
  return {
    port: socket.address().port,
    questions,
    [Symbol.asyncDispose]: () => new Promise<void>((settle) => void socket.close(() => settle())),
  };
}

/** A name as that server says it, asked anew each time. */
export function resolveAt(server: NameServer): Resolve {
  const nameServer = { ipAddr: "127.0.0.1", port: server.port };
  return async (name) => {
    const answers = [];
    for (const type of ["A", "AAAA"] as const) {
      answers.push(...await Deno.resolveDns(`${name}.`, type, { nameServer }).catch(() => []));
    }
    return answers;
  };
}

function readQuestion(query: Uint8Array): { name: string; type: "A" | "AAAA"; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(new TextDecoder().decode(query.subarray(at + 1, at + 1 + length)));
    at += length + 1;
  }
  return { name: labels.join(".").toLowerCase(), type: TYPES[query[at + 2]!]!, end: at + 5 };
}

function makeAnswer(query: Uint8Array, end: number, addresses: string[], isKnown: boolean): Uint8Array {
  const records = addresses.flatMap((address) => {
    const data = address.includes(":")
      ? address.split(":").flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255])
      : address.split(".").map(Number);
    // A pointer to the question's name, the type, class IN, time to live 0.
    return [0xc0, 12, 0, data.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length, ...data];
  });
  const head = [query[0]!, query[1]!, 0x85, isKnown ? 0x80 : 0x83, 0, 1, 0, addresses.length, 0, 0, 0, 0];
  return Uint8Array.from([...head, ...query.subarray(12, end), ...records]);
}
