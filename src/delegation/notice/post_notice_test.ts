import { assert, assertEquals } from "@std/assert";
import { type Arrival, closedPort, doorOf, openDoor, openRawDoor } from "./door_fixture.ts";
import { noticeRequest } from "./notice.ts";
import { postNotice } from "./post_notice.ts";

const NOTICE = noticeRequest({
  delegation_id: "dlg_01890000000070008000000000000001",
  capsule_name: "worker",
  capsule_version: "0.1.0",
  session_id: "ses_01890000000070008000000000000002",
  status: "ok",
  duration_ms: 42,
  workdir: "/wörk",
}, {
  session_id: "ses_1",
  context_id: "ctx_1",
  delegation_id: "dlg_01890000000070008000000000000001",
  url: "http://x/",
});

const ANSWER = (result: unknown) => ({ jsonrpc: "2.0", id: NOTICE.id, result });

/** Why a door that answers so was not reached; nothing when it was. */
async function reasonFor(answer: (arrival: Arrival) => Response | Promise<Response>): Promise<string | undefined> {
  await using door = openDoor(answer);
  const delivery = await postNotice(door.url, NOTICE);
  return delivery.delivered ? undefined : delivery.error;
}

Deno.test("postNotice: the wire shape at a real listener, one request, delivered", async () => {
  await using door = openDoor(doorOf({ sessionId: "ses_1", isWaiting: () => true }));
  assertEquals(await postNotice(door.url, NOTICE), { delivered: true });
  assertEquals(door.arrivals.length, 1);
  const [{ method, path, headers, body }] = door.arrivals as [Arrival];
  assertEquals([method, path, body], ["POST", "/", NOTICE.body]);
  for (const [name, value] of Object.entries(NOTICE.headers)) assertEquals(headers.get(name), value);
  assertEquals(headers.get("authorization"), null);
  assertEquals(Number(headers.get("content-length")), new TextEncoder().encode(NOTICE.body).length);
});

Deno.test("postNotice: an error in a 200 is not delivered and keeps the door's words; without any, ours", async () => {
  const errorOf = (error: unknown) => reasonFor(() => Response.json({ jsonrpc: "2.0", id: NOTICE.id, error }));
  const waits = doorOf({ sessionId: "ses_1", isWaiting: () => false });
  assertEquals(
    await reasonFor(waits),
    "no task in this session is waiting for delegation dlg_01890000000070008000000000000001",
  );
  assertEquals(await errorOf({ code: -31002, message: "not now" }), "not now");
  for (const error of [{ code: -31002 }, { message: "" }, { message: 7 }, "no", 1, true, []]) {
    assertEquals(await errorOf(error), "the parent refused the completion");
  }
  assertEquals(await errorOf(null), "the parent's reply is no answer to the notice");
  const long = await errorOf({ message: "é".repeat(3_000) });
  assert(new TextEncoder().encode(long).length <= 2_000 && long!.endsWith(" […]"));
});

Deno.test("postNotice: a parent restarted on the same port refuses what was for the one before", async () => {
  assertEquals(
    await reasonFor(doorOf({ sessionId: "ses_9", isWaiting: () => true })),
    "this completion is addressed to another session",
  );
});

Deno.test("postNotice: nothing listens, or the address is none: a reason, no throw", async () => {
  const port = closedPort();
  assertEquals(await postNotice(`http://127.0.0.1:${port}/`, NOTICE), {
    delivered: false,
    error: `nothing listens at 127.0.0.1:${port}`,
  });
  for (const url of ["", "nonsense", "https://127.0.0.1/", "file:///etc/passwd", "unix:/x"]) {
    assertEquals(await postNotice(url, NOTICE), {
      delivered: false,
      error: "the parent's address is no http address",
    });
  }
});

Deno.test("postNotice: what is no JSON-RPC answer to this notice is not delivered", async () => {
  const json = (value: unknown) => reasonFor(() => Response.json(value));
  assertEquals(await json(ANSWER({})), undefined);
  assertEquals(await json({ ...ANSWER({}), id: "req_other" }), "the parent's reply is no answer to the notice");
  assertEquals(await json({ jsonrpc: "2.0", id: NOTICE.id }), "the parent's reply is no answer to the notice");
  assertEquals(await json(null), "the parent's reply is no JSON-RPC");
  assertEquals(await json("ok"), "the parent's reply is no JSON-RPC");
  assertEquals(await reasonFor(() => new Response("<html>")), "the parent's reply is no JSON");
  assertEquals(await reasonFor(() => new Response("")), "the parent's reply is no JSON");
  assertEquals(await reasonFor(() => new Response("no", { status: 401 })), "the parent answered with HTTP status 401");
});

Deno.test("postNotice: a redirect is not followed", async () => {
  await using elsewhere = openDoor(() => Response.json(ANSWER({})));
  for (const status of [301, 302, 307, 308]) {
    const answer = () => new Response(null, { status, headers: { location: elsewhere.url } });
    assertEquals(await reasonFor(answer), `the parent answered with HTTP status ${status}`);
  }
  assertEquals(elsewhere.arrivals.length, 0);
});

Deno.test("postNotice: a reply is read up to 64 KiB and no further, however long it goes on", async () => {
  const endless = () =>
    new Response(
      new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(16 * 1024).fill(0x20)) }),
    );
  assertEquals(await reasonFor(endless), "the parent's reply is longer than 65536 bytes");
  const padded = (length: number) => {
    const text = JSON.stringify(ANSWER(""));
    return reasonFor(() => new Response(text.replace('""', `"${"x".repeat(length - text.length)}"`)));
  };
  assertEquals(await padded(65_536), undefined);
  assertEquals(await padded(65_537), "the parent's reply is longer than 65536 bytes");
});

Deno.test("postNotice: a parent that never answers, or only begins to, costs the time given", async () => {
  for (const said of ["", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"]) {
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    await using door = openRawDoor(async (connection) => {
      if (said !== "") await connection.write(new TextEncoder().encode(said));
      await over;
    });
    assertEquals(await postNotice(door.url, NOTICE, { timeoutMs: 200 }), {
      delivered: false,
      error: "no answer within 200 ms",
    });
    end();
  }
});

Deno.test("postNotice: a connection that ends before or within the reply, and what is no plain HTTP, have reasons", async () => {
  const json = JSON.stringify(ANSWER({}));
  const replies: readonly [said: string, reason: string | undefined][] = [
    ["HTTP/1.0 200 OK\r\n\r\n" + json, undefined],
    [`HTTP/1.1 200 OK\r\nContent-Length: ${json.length}\r\n\r\n${json} and more`, undefined],
    ["", "the connection ended before the reply"],
    ["HTTP/1.1 200 OK\r\n", "the connection ended within the reply"],
    ["HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{", "the connection ended within the reply"],
    ["nonsense\r\n\r\n", "the parent's reply is no HTTP"],
    [`HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n${json}`, "the parent's reply is no HTTP"],
    ["HTTP/1.1 200 OK\r\nx: " + "y".repeat(200_000), "the parent's reply has a head without end"],
  ];
  for (const [said, reason] of replies) {
    await using door = openRawDoor(async (connection) => {
      await connection.write(new TextEncoder().encode(said));
      if (said.length > 100_000) await connection.read(new Uint8Array(1));
    });
    const delivery = await postNotice(door.url, NOTICE);
    assertEquals(delivery.delivered ? undefined : delivery.error, reason);
  }
});

Deno.test("postNotice: an id that would break out of its header is not sent", async () => {
  await using door = openDoor(() => Response.json(ANSWER({})));
  for (const session of ["ses_1\r\nx-injected: 1", "ses_\u00e9", "\0"]) {
    const headers = { ...NOTICE.headers, "x-boll-completion-session": session };
    assertEquals(await postNotice(door.url, { ...NOTICE, headers }), {
      delivered: false,
      error: "the header x-boll-completion-session would hold what no header may",
    });
  }
  assertEquals(door.arrivals.length, 0);
});
