/**
 * The programs that make attempts on the network: a guest's, and what is run in its thread.
 * @module
 */
import { LIBC } from "./libc_source.ts";
import type { NetGuestRoute, NetInjectedRoute, NetWorld } from "./network_attempt.ts";

/** Route → its mark. */
export type Marks = Readonly<Record<string, string>>;

/** What each probe binds for its routes. */
const GUEST_NAMES = {
  http_probe: "request, send",
  sockets_probe: "connect, ipv4, lookUp, writeText, datagrams, sendText, listen",
} as const;

/** A probe that can reach the network. */
export type NetProbe = keyof typeof GUEST_NAMES;

/** The guest's source: prints what each route saw. */
export function guestSource(probe: NetProbe, routes: Readonly<Record<string, NetGuestRoute>>): string {
  return `
    const send = ({ authority, path = "/", method }) => {
      const asked = makeRequest("http://x/");
      if (method !== undefined) asked.setMethod({ tag: "other", val: method });
      asked.setAuthority(authority);
      asked.setPathWithQuery(path);
      return readResponse(receive(handler.handle(asked, undefined)));
    };
    const guest = { ${GUEST_NAMES[probe]} };
    const [world, marks] = JSON.parse(args[0]);
    const judge = (route, name) => {
      try {
        const { ok, err } = attempt(() => route(guest, world, marks[name]));
        return err === undefined ? ok === true ? "true" : "ok" : JSON.stringify(err);
      } catch (error) {
        return error instanceof Error && "payload" in error ? "invalid" : String(error);
      }
    };
    return Object.fromEntries(Object.entries(${textOf(routes)}).map(([name, route]) => [name, judge(route, name)]));`;
}

/** The source of code in the guest's thread: gives what each route saw. */
export function injectedSource(
  routes: Readonly<Record<string, NetInjectedRoute>>,
  world: NetWorld,
  marks: Marks,
): string {
  return `//injected
    const [world, marks] = ${JSON.stringify([world, marks])};
    ${LIBC}
    const { gate_port, credential } = load.network;
    const gate = { port: gate_port, authorization: "Basic " + btoa(credential) };
    ${talk.toString()}
    const tunnel = (scheme, authority, text) => talk(gate.port, "CONNECT " + authority + " HTTP/1.1\\r\\nHost: " + authority +
      "\\r\\nProxy-Authorization: " + gate.authorization + "\\r\\nx-boll-scheme: " + scheme + "\\r\\n\\r\\n", text);
    const ask = (url) => talk(gate.port, "GET " + url + " HTTP/1.1\\r\\nHost: " + new URL(url).host +
      "\\r\\nProxy-Authorization: " + gate.authorization + "\\r\\n\\r\\n");
    const tools = { libc, operations, gate, talk, tunnel, ask, resolveName: (name) => ports.resolve(name) };
    const seen = {};
    for (const [name, route] of Object.entries(${textOf(routes)})) {
      try { seen[name] = String(await route(tools, world, marks[name])).split("\\r\\n")[0].slice(0, 200); }
      catch (error) { seen[name] = String(error).split("\\n")[0].slice(0, 200); }
    }
    return seen;`;
}

/** Its text is sent with the routes. */
async function talk(place: number | Deno.ConnectOptions, ...texts: string[]): Promise<string> {
  using wire = await Deno.connect(typeof place === "number" ? { port: place, hostname: "127.0.0.1" } : place);
  const buffer = new Uint8Array(65_536);
  let heard = "";
  for (const text of texts) {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    for (let at = 0; at < bytes.length;) at += await wire.write(bytes.subarray(at));
    const count = text === "" ? 0 : await wire.read(buffer);
    if (count === null) break;
    heard += String.fromCharCode(...buffer.subarray(0, count));
  }
  return heard;
}

function textOf(routes: Readonly<Record<string, NetGuestRoute | NetInjectedRoute>>): string {
  return `{ ${Object.entries(routes).map(([name, route]) => `"${name}": ${route.toString()}`).join(",\n")} }`;
}
