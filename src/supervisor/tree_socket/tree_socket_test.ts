import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { CapsuleError } from "../../base/mod.ts";
import { decodeTreeReply, decodeTreeRequest, type TreeNode } from "../../protocol/tree/mod.ts";
import { askTree, followTree, type TreeControl, TreeSocket } from "./mod.ts";

const NODE: TreeNode = {
  path: "0",
  session_id: `ses_${"0".repeat(32)}`,
  capsule: "sleeper",
  state: "running",
  verdict: "healthy",
  pid: 1,
  tokens_in: 0,
  tokens_out: 0,
  started_ms: 1,
  progress_ms: 2,
};

/** A tree of one session that does what it is told. */
class OneNode implements TreeControl {
  node: TreeNode = NODE;

  list(): readonly TreeNode[] {
    return [this.node];
  }

  act(action: string, path: string): void {
    if (path !== this.node.path) throw new CapsuleError("tree.not_running", `Find ${path}: nothing runs there`);
    this.node = { ...this.node, state: action === "pause" ? "paused" : "running" };
  }
}

async function withTree(body: (path: string, tree: OneNode, socket: TreeSocket) => Promise<void>): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "boll-test-" });
  const tree = new OneNode();
  try {
    await using socket = TreeSocket.open(`${folder}/tree`, tree);
    await body(`${folder}/tree`, tree, socket);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("TreeSocket: lists, does what is asked, and refuses what cannot be", async () => {
  await withTree(async (path) => {
    assertEquals(await askTree(path, { type: "list" }), { type: "tree", nodes: [NODE] });
    assertEquals(await askTree(path, { type: "pause", path: "0" }), { type: "done" });
    assertEquals(await askTree(path, { type: "list" }), { type: "tree", nodes: [{ ...NODE, state: "paused" }] });
    const refused = await askTree(path, { type: "stop", path: "0.7" });
    assertEquals(refused.type, "refused");
  });
});

Deno.test("followTree: the tree as it is, each change, and the end when the tree goes or the follower stops", async () => {
  await withTree(async (path, tree, socket) => {
    const seen = followTree(path, new AbortController().signal);
    assertEquals((await seen.next()).value, [NODE]);
    tree.node = { ...NODE, state: "paused" };
    assertEquals((await seen.next()).value, [tree.node]);
    const stop = new AbortController();
    const other = followTree(path, stop.signal);
    await other.next();
    stop.abort();
    assertEquals((await other.next()).done, true);
    await socket[Symbol.asyncDispose]();
    assertEquals((await seen.next()).done, true);
    const { code } = await assertRejects(() => askTree(path, { type: "list" }), CapsuleError);
    assertEquals(code, "tree.unreachable");
  });
});

Deno.test("TreeSocket: a connection that says nonsense, nothing or too much is closed, and the others go on", async () => {
  await withTree(async (path) => {
    const silent = await Deno.connect({ transport: "unix", path });
    const frame = (text: string) => {
      const bytes = new TextEncoder().encode(text);
      return new Uint8Array([0, 0, bytes.length >> 8, bytes.length & 255, ...bytes]);
    };
    const nonsense = [
      frame("[]"),
      frame(`{"type":"obey"}`),
      frame(`{"type":"stop"}`),
      new Uint8Array([255, 255, 255, 255]),
      new Uint8Array([0, 1, 0, 0, ...new Uint8Array(65_536)]),
    ];
    for (const bytes of nonsense) {
      using connection = await Deno.connect({ transport: "unix", path });
      await connection.write(bytes).catch(() => {});
      assertEquals(await connection.read(new Uint8Array(8)).catch(() => null), null);
    }
    assertEquals((await askTree(path, { type: "list" })).type, "tree");
    silent.close();
  });
});

Deno.test("TreeSocket: those that say nothing make room for who asks", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "boll-test-" });
  const silent: Deno.Conn[] = [];
  try {
    await using _socket = TreeSocket.open(`${folder}/tree`, new OneNode(), 100);
    const path = `${folder}/tree`;
    for (let i = 0; i < 64; i++) silent.push(await Deno.connect({ transport: "unix", path }));
    for (const connection of silent) {
      assertEquals(await connection.read(new Uint8Array(8)).catch(() => null), null);
    }
    assertEquals((await askTree(path, { type: "list" })).type, "tree");
  } finally {
    for (const connection of silent) connection.close();
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("askTree: an answer that never ends, and one that is none, are no answer and cost no memory", async () => {
  const folder = Deno.makeTempDirSync({ prefix: "boll-test-" });
  using listener = Deno.listen({ transport: "unix", path: `${folder}/tree` });
  let written = 0;
  const flood = async () => {
    using connection = await listener.accept();
    const chunk = new Uint8Array(65_536).fill(32);
    chunk.set([0, 255, 255, 255]);
    while (true) written += await connection.write(chunk);
  };
  try {
    const flooding = flood().catch(() => {});
    const { code } = await assertRejects(() => askTree(`${folder}/tree`, { type: "list" }), CapsuleError);
    await flooding;
    assertEquals([code, written < 10 * 1024 * 1024], ["tree.unreachable", true]);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("tree messages: each field is checked and named", () => {
  assertEquals(decodeTreeRequest({ type: "resume", path: "0.1", more: 1 }), { type: "resume", path: "0.1" });
  const wrong: [() => unknown, string][] = [
    [() => decodeTreeRequest({}), "message.type"],
    [() => decodeTreeRequest({ type: "stop", path: 0 }), "message.path"],
    [() => decodeTreeReply({ type: "tree", nodes: {} }), "message.nodes"],
    [() => decodeTreeReply({ type: "refused" }), "message.message"],
    ...["../../elsewhere", "\x1b[2J", "last"].map((session_id): [() => unknown, string] => [
      () => decodeTreeReply({ type: "tree", nodes: [{ ...NODE, session_id }] }),
      "message.nodes[0].session_id",
    ]),
    ...Object.keys(NODE).map((name): [() => unknown, string] => [
      () => decodeTreeReply({ type: "tree", nodes: [{ ...NODE, [name]: null }] }),
      `message.nodes[0].${name}`,
    ]),
  ];
  for (const [decode, path] of wrong) {
    try {
      decode();
    } catch (error) {
      assertEquals((error as CapsuleError).code, "protocol.bad_field");
      assertStringIncludes((error as CapsuleError).message, path);
      continue;
    }
    throw new Error(`${path} was not missed`);
  }
  const nodes = [NODE, { ...NODE, session_id: "" }]; // one that is about to start has no id yet
  assertEquals(decodeTreeReply({ type: "tree", nodes }), { type: "tree", nodes });
});
