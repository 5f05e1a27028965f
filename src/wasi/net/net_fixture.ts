import { type GateDenial, type GateOptions, openGate } from "../../egress/mod.ts";
import { parseNetEntry } from "../../grants/mod.ts";
import type { Denial, WasiHost } from "../host.ts";
import { createWasi } from "../host.ts";
import { bareOptions } from "../host_fixture.ts";
import type { InputStream } from "../input_stream.ts";
import { openNetwork } from "../network.ts";
import { wasiStreamEnd } from "./stream_fixture.ts";

/** A host whose network goes through a gate of its own. */
export interface NetFixture extends AsyncDisposable {
  readonly wasi: WasiHost;
  readonly denials: Denial[];
  readonly gateDenials: GateDenial[];
  /** The credential of the gate: what no guest may ever see. */
  readonly password: string;
}

/** What a fixture is opened with; names are a table. */
export interface NetFixtureOptions extends Partial<Omit<GateOptions, "entries">> {
  readonly entries: readonly string[];
  readonly names?: Readonly<Record<string, readonly string[]>>;
  readonly caCerts?: readonly string[];
}

export function openNetFixture(
  { entries, names = {}, caCerts = [], ...options }: NetFixtureOptions,
): NetFixture {
  const denials: Denial[] = [];
  const gateDenials: GateDenial[] = [];
  const parsed = entries.map(parseNetEntry);
  const gate = openGate({
    entries: parsed,
    resolve: (name) => Promise.resolve(names[name] ?? []),
    onConnection: () => {},
    onDenied: (denial) => gateDenials.push(denial),
    ...options,
  });
  const { user, password } = gate.credential;
  const onDenied = (denial: Denial) => denials.push(denial);
  const network = openNetwork({
    entries: parsed,
    gate: { port: gate.port, credential: `${user}:${password}` },
    caCerts,
    udpPeers: [],
    async resolve(name) {
      const found = await gate.resolveName(name);
      return found.ok ? found : { ok: false, error: found.error };
    },
  }, onDenied);
  const wasi = createWasi(bareOptions({ onDenied, network }));
  return {
    wasi,
    denials,
    gateDenials,
    password,
    async [Symbol.asyncDispose]() {
      await wasi.settle();
      await gate.close();
    },
  };
}

/** All of a stream as text. */
export async function readAll(stream: InputStream): Promise<string> {
  let text = "";
  try {
    for (;;) text += new TextDecoder().decode(await stream.blockingRead(65_536n));
  } catch (error) {
    if (wasiStreamEnd(error)) return text;
    throw error;
  }
}

/** The value that `act` throws, or rejects with. @throws Error when it does neither */
export async function refusal(act: () => unknown): Promise<unknown> {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error("Expected a refusal: it was allowed");
}
