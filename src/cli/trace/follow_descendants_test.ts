import { assertEquals } from "@std/assert";
import type { TreeNode } from "../../protocol/tree/mod.ts";
import { createSession, openHome, TraceWriter, writeControlPointer } from "../../records/mod.ts";
import { TreeSocket } from "../../supervisor/tree_socket/mod.ts";
import { followDescendants, prefixedSink } from "./follow_descendants.ts";
import { TextTracePrinter } from "./trace_printer.ts";
import { paintFor } from "../text/paint.ts";

const ENDED = { status: "completed", exit_code: 0, ended_by: "guest", duration_ms: 5 } as const;

Deno.test("followDescendants: what appears below the session, each line with its place, and nothing beside it", async () => {
  const root = Deno.makeTempDirSync({ prefix: "boll-test-" });
  try {
    const home = openHome((name) => name === "BOLL_HOME" ? `${root}/home` : undefined);
    const sessions = Array.from({ length: 4 }, () => createSession(home));
    const [top, child, grandchild, stranger] = sessions;
    const paths = ["0.1", "0.1.1", "0.1.1.2", "0.10"];
    const nodes = sessions.map((session, index): TreeNode => ({
      path: paths[index]!,
      session_id: session.id,
      capsule: `c${index}`,
      state: "running",
      verdict: "healthy",
      pid: 1,
      tokens_in: 0,
      tokens_out: 0,
      started_ms: 1,
      progress_ms: 1,
    }));
    const shown: TreeNode[] = [nodes[0]!, nodes[1]!, nodes[3]!];
    const control = { list: () => [...shown], act() {} };
    const socket = TreeSocket.open(`${root}/tree`, control);
    writeControlPointer(top!, `${root}/tree`);
    let text = "";
    const written = new Map<string, () => void>();
    const sink = {
      isTerminal: false,
      write(line: string) {
        text += line;
        for (const [marker, resolve] of written) if (text.includes(marker)) resolve();
      },
    };
    const until = (marker: string) => new Promise<void>((resolve) => written.set(marker, resolve));
    const following = followDescendants(top!, {
      home,
      signal: new AbortController().signal,
      pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      printerOf: (node, session) =>
        new TextTracePrinter(prefixedSink(sink, node), session, paintFor(sink, { readVariable: () => undefined })),
    });
    const end = async (session: typeof top, marker?: string) => {
      const seen = marker === undefined ? undefined : until(marker);
      using trace = new TraceWriter(session!);
      trace.append("session_end", ENDED);
      await seen;
    };
    await end(stranger);
    await end(child, "0.1.1 c1 |");
    shown.push(nodes[2]!);
    await end(grandchild, "0.1.1.2 c2 |");
    await socket[Symbol.asyncDispose]();
    await following;
    const lines = text.trimEnd().split("\n");
    assertEquals(lines.every((line) => /^0\.1\.1(\.2)? c[12] \| /.test(line)), true, text);
    assertEquals(text.match(/session_end/g)?.length, 2, text);
    for (const session of sessions) session.close();
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
