import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { hashToken } from "../../src/records/mod.ts";
import { HeldWork, OWNER, runDoor, SHOUT } from "./running_door.ts";
import { ask, call, callHeaders, message, openStream, request, WireConnection } from "./wire_client.ts";

/** A call that comes in when nothing is wrong with it. */
function sending(
  headers: Record<string, string>,
  body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} }),
) {
  return { headers: { ...callHeaders(OWNER), ...headers }, body };
}

Deno.test("a token: the owner's and a peer's come in; none, another, a taken back one and two do not, before the body is read", async () => {
  await using running = await runDoor({ work: SHOUT });
  const { door, port } = running;
  for (const token of [OWNER, "ada-token"]) assertEquals((await ask(port, sending(callHeaders(token)))).status, 200);
  const wrong = [
    "",
    "Bearer",
    "Bearer wrong",
    `Basic ${btoa(`a:${OWNER}`)}`,
    `Bearer ${OWNER}x`,
    `Bearer ${OWNER}, Bearer ${OWNER}`,
  ];
  for (const authorization of wrong) {
    const reply = await ask(port, sending({ authorization }));
    assertEquals([reply.status, JSON.parse(reply.body)], [401, { error: "unauthenticated" }], authorization);
    assertEquals(reply.headers.get("www-authenticate"), 'Bearer realm="boll"');
  }
  // The body is never sent, and the answer is there.
  using connection = await WireConnection.open(port);
  await connection.send(request(port, { headers: { "content-length": "1000" } }));
  assertEquals((await connection.reply()).status, 401);
  door.setCredentials({ isOpen: false, ownerTokenHash: hashToken(OWNER), peers: [] });
  assertEquals((await ask(port, sending(callHeaders("ada-token")))).status, 401);
  assertEquals((await ask(port, sending({}))).status, 200);
  const impostors = ["owner", "anonymous"].map((name) => ({ name, tokenHash: hashToken(`i-am-${name}`) }));
  door.setCredentials({ isOpen: false, ownerTokenHash: hashToken(OWNER), peers: impostors });
  for (const { name } of impostors) assertEquals((await ask(port, sending(callHeaders(`i-am-${name}`)))).status, 401);
});

Deno.test("a token that is revoked ends what was begun with it: a stream, a call that waits, a body on its way; no other's", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work });
  const { door, port } = running;
  const params = message("hold");
  using own = await openStream(port, "SendStreamingMessage", params);
  const held = await work.next();
  using foreign = await openStream(port, "SendStreamingMessage", params, callHeaders("ada-token"));
  const [ownEvents, foreignEvents] = [own.events(), foreign.events()];
  for (const [connection, events] of [[own, ownEvents], [foreign, foreignEvents]] as const) {
    assertEquals((await connection.head()).status, 200);
    await events.next();
  }
  const waiting = call(port, "SendMessage", message("wait"), { token: "ada-token" });
  using sending = await WireConnection.open(port);
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: message("late") });
  const whole = request(port, { headers: callHeaders("ada-token"), body });
  await sending.send(whole.slice(0, -10));
  const listed = async () => (await call(port, "ListTasks", {})).result.tasks.length;
  while (await listed() < 3);
  door.setCredentials({ isOpen: false, ownerTokenHash: hashToken(OWNER), peers: [] });
  await sending.send(whole.slice(-10));
  assertEquals((await sending.reply()).status, 401);
  assertEquals(await listed(), 3);
  held.end({ state: "completed", answer: "for the owner" });
  for (let at = 0; at < 2; at++) (await work.next()).end({ state: "completed", answer: "for ada" });
  assertEquals(await waiting, { error: "unauthenticated" });
  assertEquals(await foreign.rest(), "");
  const told = (await Array.fromAsync(ownEvents)).map(({ data }) => JSON.stringify(data)).join();
  assertStringIncludes(told, "for the owner");
  assertStringIncludes(told, "TASK_STATE_COMPLETED");
});

Deno.test("without a token: the card, /healthz and /readyz, and nothing else", async () => {
  await using running = await runDoor({ work: SHOUT });
  const { port } = running;
  const status = async (method: string, path: string, headers = {}) =>
    (await ask(port, { method, path, headers })).status;
  for (const path of ["/.well-known/agent-card.json", "/healthz", "/readyz"]) {
    assertEquals(await status("GET", path), 200, path);
  }
  const others = [
    "/metrics",
    "/",
    "/v1/tasks",
    "/v1/message:send",
    "/favicon.ico",
    "/healthz/",
    "//healthz",
    "/HEALTHZ",
    "/%68ealthz",
  ];
  for (const path of others) assertEquals(await status("GET", path), 401, path);
  for (const path of others) {
    const isRoute = path === "/metrics" || path === "/v1/tasks";
    assertEquals(await status("GET", path, callHeaders(OWNER)), isRoute ? 200 : 404, path);
  }
  for (const method of ["PUT", "DELETE", "OPTIONS", "PATCH"]) {
    assertEquals(await status(method, "/", callHeaders(OWNER)), 404);
  }
});

Deno.test("Host: the bound address, its loopback names and the configured ones; any other is 421, whatever the token", async () => {
  await using running = await runDoor({ work: SHOUT, names: ["agent.example", "tls.example:8443"] });
  const { port } = running;
  const good = [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `[::1]:${port}`,
    "agent.example",
    "AGENT.example:443",
    "tls.example:8443",
  ];
  for (const host of good) assertEquals((await ask(port, sending({ host }))).status, 200, host);
  const bad = [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1",
    `127.0.0.2:${port}`,
    "127.0.0.1:1",
    "tls.example",
    "",
    "a b",
    `127.0.0.1:${port}@evil`,
  ];
  for (const host of bad) assertEquals((await ask(port, sending({ host }))).status, 421, host);
  for (const host of ["evil.example", `rebound.example:${port}`]) {
    assertEquals((await ask(port, { method: "GET", path: "/healthz", headers: { host } })).status, 421);
  }
});

Deno.test("what a browser sends for a page of elsewhere is refused: cross-origin, forms, preflights, WebSockets, opaque origins", async () => {
  await using running = await runDoor({ work: SHOUT, credentials: { isOpen: true, peers: [] } });
  const { port } = running;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: message("x") });
  const pages: Record<string, string>[] = [
    { origin: "https://evil.example" },
    { origin: "http://evil.example", "content-type": "text/plain" },
    { origin: "null" },
    { origin: `http://127.0.0.1:${port + 1}` },
    { origin: `https://127.0.0.1.evil.example:${port}` },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "http://evil.example", "content-type": "application/x-www-form-urlencoded" },
    { origin: `http://rebound.example:${port}`, host: `rebound.example:${port}` },
  ];
  for (const headers of pages) {
    const reply = await ask(port, { headers: { "a2a-version": "1.0", ...headers }, body });
    assert([403, 421].includes(reply.status), JSON.stringify(headers));
    assert(![...reply.headers.keys()].some((name) => name.startsWith("access-control-")));
  }
  const preflight = { "origin": "https://evil.example", "access-control-request-method": "POST" };
  assertEquals((await ask(port, { method: "OPTIONS", headers: preflight })).status, 403);
  const socket = {
    upgrade: "websocket",
    connection: "Upgrade",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  assertEquals(
    (await ask(port, { method: "GET", headers: { ...socket, origin: "https://evil.example" } })).status,
    403,
  );
  assertEquals((await ask(port, { method: "GET", headers: socket })).status, 404);
  // A form without an origin is no JSON; a page of the door itself would come in.
  const form = await ask(port, { headers: { "a2a-version": "1.0", "content-type": "text/plain" }, body });
  assertEquals(JSON.parse(form.body).error.code, -32005);
  const own = await ask(port, { headers: { "a2a-version": "1.0", "origin": `http://127.0.0.1:${port}` }, body });
  assertEquals(JSON.parse(own.body).result.task.status.state, "TASK_STATE_COMPLETED");
  assertEquals(running.events.filter(({ event }) => event === "task_start").length, 1);
});

Deno.test("origin follows the token: an owner is a user and may be less, a peer stays one, nobody at an open door is a peer", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work });
  const { port } = running;
  const seen = async (token: string, headers: Record<string, string> = {}) => {
    const sent = call(port, "SendMessage", message("x"), { token, headers });
    const { task, end } = await work.next();
    end({ state: "completed" });
    await sent;
    return [task.origin, task.principal];
  };
  assertEquals(await seen(OWNER), ["user", "owner"]);
  assertEquals(await seen(OWNER, { "x-boll-task-origin": "peer" }), ["peer", "owner"]);
  assertEquals(await seen(OWNER, { "x-boll-task-origin": "system" }), ["system", "owner"]);
  assertEquals(await seen(OWNER, { "x-boll-task-origin": "root" }), ["peer", "owner"]);
  for (const claimed of ["user", "system", "peer"]) {
    assertEquals(await seen("ada-token", { "x-boll-task-origin": claimed }), ["peer", "ada"]);
  }
  await using open = await runDoor({
    work,
    credentials: { isOpen: true, ownerTokenHash: hashToken(OWNER), peers: [] },
  });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: message("x") });
  const asked = ask(open.port, { headers: { "a2a-version": "1.0", "x-boll-task-origin": "user" }, body });
  const { task, end } = await work.next();
  end({ state: "completed" });
  await asked;
  assertEquals([task.origin, task.principal], ["peer", "anonymous"]);
  assertEquals((await ask(open.port, sending({ authorization: "Bearer wrong" }))).status, 401);
});

Deno.test("a peer sees and ends its own tasks alone, and enters no context of others; the owner sees all", async () => {
  const work = new HeldWork();
  await using running = await runDoor({ work });
  const { port } = running;
  const [ada, bob] = [{ token: "ada-token" }, { token: "bob-token" }];
  const sent = await call(port, "SendMessage", { ...message("x"), configuration: { returnImmediately: true } }, ada);
  const { id, contextId } = sent.result.task;
  assertEquals((await call(port, "GetTask", { id }, ada)).result.id, id);
  assertEquals((await call(port, "GetTask", { id })).result.id, id);
  for (const method of ["GetTask", "CancelTask", "SubscribeToTask"]) {
    assertEquals((await call(port, method, { id }, bob)).error.code, -32001, method);
  }
  assertEquals((await call(port, "ListTasks", {}, ada)).result.totalSize, 1);
  assertEquals((await call(port, "ListTasks", {}, bob)).result.totalSize, 0);
  assertEquals((await call(port, "ListTasks", {})).result.totalSize, 1);
  const entered = await call(port, "SendMessage", message("y", { contextId }), bob);
  assertEquals(entered.error.code, -32602);
  assertStringIncludes(entered.error.message, "message.contextId");
  (await work.next()).end({ state: "completed" });
  const own = call(port, "SendMessage", message("y", { contextId }), ada);
  (await work.next()).end({ state: "completed" });
  assertEquals((await own).result.task.contextId, contextId);
});

Deno.test("errors as the protocol numbers them, each an HTTP 200, and the field is named", async () => {
  await using running = await runDoor({ work: SHOUT });
  const { port } = running;
  const raw = async (body: string, headers = {}) => {
    const reply = await ask(port, sending(headers, body));
    assertEquals(reply.status, 200);
    return JSON.parse(reply.body).error;
  };
  const rpc = (fields: Record<string, unknown>) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "x" }, ...fields });
  for (
    const body of [
      "",
      "{",
      "nonsense",
      '{"a":1,}',
      "\ud800",
      `${"[".repeat(100)}${"]".repeat(100)}`,
      `[${"0,".repeat(200_000)}0]`,
    ]
  ) {
    assertEquals((await raw(body)).code, -32700, body.slice(0, 20));
  }
  for (
    const body of [
      "[]",
      "1",
      "null",
      '"x"',
      rpc({ jsonrpc: "1.0" }),
      rpc({ id: {} }),
      rpc({ id: 1.5 }),
      rpc({ method: 3 }),
      rpc({ method: "" }),
    ]
  ) {
    assertEquals((await raw(body)).code, -32600, body);
  }
  for (const method of ["Nope", "message/send", "sendMessage", "__proto__", "constructor"]) {
    const { code, message } = await raw(rpc({ method }));
    assertEquals([code, message], [
      -32601,
      `Find a method: found "${method}", wanted one of A2A 1.0, as SendMessage`,
    ]);
  }
  const bad: [string, unknown, string][] = [
    ["SendMessage", {}, "message:"],
    ["SendMessage", [], "params"],
    ["SendMessage", null, "params"],
    ["SendMessage", { message: "x" }, "message:"],
    ["SendMessage", { message: { role: "ROLE_USER", parts: [{ text: "x" }] } }, "message.messageId"],
    ["SendMessage", message("x", { messageId: 3 }), "message.messageId"],
    ["SendMessage", message("x", { role: "ROLE_AGENT" }), "message.role"],
    ["SendMessage", message("x", { parts: [] }), "message.parts:"],
    ["SendMessage", message("x", { parts: [{}] }), "message.parts[0]"],
    ["SendMessage", message("x", { parts: [{ text: 3 }] }), "message.parts[0].text"],
    ["SendMessage", message("x", { parts: [{ raw: "%" }] }), "message.parts[0].raw"],
    ["SendMessage", message("x", { contextId: "c".repeat(257) }), "message.contextId"],
    ["SendMessage", { ...message("x"), configuration: { historyLength: -1 } }, "configuration.historyLength"],
    [
      "SendMessage",
      { ...message("x"), configuration: { returnImmediately: "yes" } },
      "configuration.returnImmediately",
    ],
    ["GetTask", {}, "id:"],
    ["GetTask", { id: "" }, "id:"],
    ["GetTask", { id: "x", historyLength: 1.5 }, "historyLength"],
    ["ListTasks", { pageSize: 101 }, "pageSize"],
    ["ListTasks", { status: "DONE" }, "status"],
    ["ListTasks", { pageToken: "x" }, "pageToken"],
    ["ListTasks", { statusTimestampAfter: "soon" }, "statusTimestampAfter"],
    ["CancelTask", { id: ["x"] }, "id:"],
    ["SubscribeToTask", {}, "id:"],
  ];
  for (const [method, params, field] of bad) {
    const error = await raw(rpc({ method, params }));
    assertEquals(error.code, -32602, field);
    assertStringIncludes(error.message, field);
  }
  assertEquals((await raw(rpc({}))).code, -32001);
  assertEquals((await raw(rpc({ method: "SendMessage", params: message("x", { taskId: "tsk_none" }) }))).code, -32001);
  assertEquals(
    (await raw(
      rpc({ method: "SendMessage", params: message("x", { parts: [{ raw: "QQ==", mediaType: "image/png" }] }) }),
    )).code,
    -32005,
  );
  assertEquals(
    (await raw(
      rpc({
        method: "SendMessage",
        params: message("x", { parts: [{ url: "file:///etc/passwd", mediaType: "text/plain" }] }),
      }),
    )).code,
    -32005,
  );
  const typed = await raw(rpc({}), { "content-type": "text/plain; charset=utf-8" });
  assertEquals([typed.code, typed.message], [
    -32005,
    "Read a request: found content-type text/plain, wanted application/json",
  ]);
  for (const version of ["", "0.3", "2.0", "1", "one"]) {
    assertEquals((await raw(rpc({}), { "a2a-version": version })).code, -32009);
  }
  assertEquals((await raw(rpc({}), { "a2a-version": "1.0.7" })).code, -32001);
  assertEquals((await raw(rpc({ method: "GetExtendedAgentCard" }))).code, -32004);
  assertEquals((await raw(rpc({ method: "CreateTaskPushNotificationConfig" }))).code, -32003);
});

Deno.test("whatever the parameters are, the answer is one of the protocol's, and never a failure of the door's own", async () => {
  await using running = await runDoor({ work: SHOUT });
  const { port } = running;
  const methods = ["SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask", "SubscribeToTask"];
  const good = {
    ...message("x", { parts: [{ text: "x" }, { text: "y" }], metadata: {}, taskId: "", contextId: "c" }),
    id: "x",
  };
  const paths = [
    "message",
    "message.parts",
    "message.parts.0",
    "message.parts.0.text",
    "message.messageId",
    "message.role",
  ];
  const others = [
    "message.metadata",
    "message.taskId",
    "message.contextId",
    "configuration",
    "metadata",
    "tenant",
    "id",
  ];
  const lists = [
    "pageSize",
    "pageToken",
    "status",
    "contextId",
    "historyLength",
    "statusTimestampAfter",
    "includeArtifacts",
  ];
  const place = fc.constantFrom(...paths, ...others, ...lists);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...methods), place, fc.jsonValue({ maxDepth: 3 }), async (method, path, value) => {
      // deno-lint-ignore no-explicit-any
      const params: any = structuredClone(good);
      const keys = path.split(".");
      const last = keys.pop()!;
      keys.reduce((at, key) => at[key], params)[last] = value;
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const reply = await ask(port, { headers: callHeaders(OWNER), body });
      assertEquals(reply.status, 200, body);
      if (reply.headers.get("content-type") === "text/event-stream") return;
      const { error } = JSON.parse(reply.body);
      assert(error === undefined || [-32602, -32001, -32005].includes(error.code), `${body}\n${reply.body}`);
    }),
    { numRuns: 400 },
  );
});
