import { assert, assertEquals } from "@std/assert";
import { NO_GRANTS } from "../../grants/mod.ts";
import type { SpawnPayload } from "../../protocol/control/mod.ts";
import { firstRules, withDoorPort } from "./first_layer.ts";

const DOOR = {
  hostname: "127.0.0.1",
  port: 0,
  open: true,
  names: [],
  accept: "queue",
  queue_depth: 1,
  idempotent: false,
  peers: [],
} as const;

function payloadOf(folder: string, extra: Partial<SpawnPayload> = {}): SpawnPayload {
  return {
    grants: NO_GRANTS,
    capsule: { name: "x", version: "", digest: "", path: `${folder}/capsule/capsule.jsonc` },
    places: { session_id: "ses_1", root: `${folder}/session`, work: `${folder}/work`, cache: `${folder}/cache` },
    mcp_servers: [],
    a2a_peers: [],
    ...extra,
  } as unknown as SpawnPayload;
}

function withFolder(body: (folder: string) => void): void {
  const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "boll-layer-" }));
  try {
    Deno.mkdirSync(`${folder}/capsule`);
    Deno.writeTextFileSync(`${folder}/capsule/capsule.jsonc`, "{}");
    body(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("firstRules: its capsule and the cache to read, its places to write; the work folder, its service's and names only when granted", () => {
  withFolder((folder) => {
    const { read, write, tcpConnect, tcpBind, anyTcp } = firstRules(payloadOf(folder), "/tmp/own");
    for (const path of [`${folder}/capsule`, `${folder}/cache`]) assert(read.includes(path), path);
    assert(!read.some((path) => path.startsWith("/etc/")));
    assertEquals(write, [`${folder}/session`, "/tmp/own"]);
    assertEquals([tcpConnect, tcpBind, anyTcp], [[], [], undefined]);
    const service = { folder };
    const fs = { mounts: [], work: "rw" } as const;
    const more = firstRules(
      payloadOf(folder, { grants: { ...NO_GRANTS, fs }, door: { ...DOOR, service } }),
      "/tmp/own",
    );
    assertEquals(more.write, [`${folder}/session`, "/tmp/own", `${folder}/work`, folder]);
  });
});

Deno.test("firstRules: TCP is left to later layers where there is a network or a model, and else only the door's port is bound", () => {
  withFolder((folder) => {
    const intelligence = { uri: "https://x.example", headers: [] };
    for (const open of [{ grants: { ...NO_GRANTS, net: ["https://x.example"] } }, { intelligence }]) {
      assertEquals(firstRules(payloadOf(folder, open), "/tmp/own").anyTcp, true);
    }
    const { door } = withDoorPort(payloadOf(folder, { door: DOOR }));
    assert(door!.port > 0);
    const { tcpBind, tcpConnect, anyTcp } = firstRules(payloadOf(folder, { door: door! }), "/tmp/own");
    assertEquals([tcpBind, tcpConnect, anyTcp], [[door!.port], [], undefined]);
    assertEquals(withDoorPort(payloadOf(folder, { door: { ...DOOR, port: 4000 } })).door?.port, 4000);
  });
});

Deno.test("firstRules: a bare component alone is read, not the folder that it lies in", () => {
  withFolder((folder) => {
    Deno.writeTextFileSync(`${folder}/capsule/x.wasm`, "");
    const capsule = { name: "x", version: "", digest: "", path: `${folder}/capsule/x.wasm` };
    const { read } = firstRules(payloadOf(folder, { capsule }), "/tmp/own");
    assert(read.includes(capsule.path));
    assert(!read.includes(`${folder}/capsule`));
  });
});
