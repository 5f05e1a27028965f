import { assert, assertEquals, assertRejects } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import { NO_GRANTS } from "../../grants/mod.ts";
import { TraceWriter } from "../../records/mod.ts";
import type { Denied } from "../cell/run_cell.ts";
import { RunNetwork } from "./run_network.ts";

/** A network with these entries and a trace in `folder`. */
function open(folder: string, net: readonly string[], denied: Denied[], ca?: string): Promise<RunNetwork> {
  const trace = new TraceWriter({ id: "ses_test", trace: `${folder}/trace.jsonl` });
  const grants = { ...NO_GRANTS, net };
  const upstream = ca === undefined ? {} : { ca };
  return RunNetwork.open({ grants, upstream, trace, onDenied: (one) => denied.push(one) });
}

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync();
  try {
    await body(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("RunNetwork: a granted name is answered, another is refused and told; the peers of udp names are looked up", () =>
  withFolder(async (folder) => {
    const denied: Denied[] = [];
    await using network = await open(folder, ["tcp://localhost:5", "udp://localhost:53"], denied);
    assertEquals(network.cell.udp_peers, ["127.0.0.1:53", "[::1]:53"]);
    assertEquals(network.places, { gatePort: network.cell.gate_port, udpPeers: network.cell.udp_peers });
    const call = (id: number, name: string) => network.answer({ id, name: "resolve", args: { name } });
    assertEquals(await call(3, "localhost"), { id: 3, value: { addresses: ["127.0.0.1", "::1"] } });
    assertEquals(await call(4, "evil.example"), { id: 4, error: "denied" });
    assertEquals(denied.map(({ grant, asked }) => [grant, asked]), [["net", "resolve evil.example"]]);
    const many = await Promise.all(Array.from({ length: 33 }, (_, id) => call(id, "localhost")));
    assertEquals(many.filter((result) => "error" in result).length, 1);
  }));

Deno.test("RunNetwork: certificates are read whole, and a file that holds none is refused by name", () =>
  withFolder(async (folder) => {
    const pem = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
    Deno.writeTextFileSync(`${folder}/ca.pem`, pem);
    await using network = await open(folder, ["https://a.example"], [], `${folder}/ca.pem`);
    assertEquals(network.cell.ca_certs, [pem]);
    Deno.writeTextFileSync(`${folder}/none.pem`, "no");
    for (const name of ["none.pem", "missing.pem", "."]) {
      const error = await assertRejects(
        () => open(folder, ["https://a.example"], [], `${folder}/${name}`),
        CapsuleError,
      );
      assertEquals(error.code, "workspace.invalid");
      assert(error.message.includes(name));
    }
  }));
