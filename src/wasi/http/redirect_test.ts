import { assertEquals } from "@std/assert";
import { openNetFixture, refusal } from "../net/net_fixture.ts";
import { ask, serve } from "./http_fixture.ts";

const LONG = "x".repeat(70_000);

function redirect(status: number, location?: string): Response {
  return new Response(null, { status, headers: location === undefined ? {} : { location } });
}

Deno.test("redirects: the method and the body of the next request, by status", async () => {
  await using server = serve((request) => {
    const { pathname } = new URL(request.url);
    return pathname === "/end" ? new Response("end") : redirect(Number(pathname.slice(1)), "/end");
  });
  await using net = openNetFixture({ entries: [`http://127.0.0.1:${server.port}`] });
  const next = async (status: number, method: string, body?: string) => {
    const answer = await ask(net, `http://127.0.0.1:${server.port}/${status}`, {
      method,
      ...(body === undefined ? {} : { body }),
    });
    assertEquals([answer.status, answer.text], [200, method === "head" ? "" : "end"]);
    return server.asked.at(-1);
  };
  for (const status of [301, 302]) {
    assertEquals(await next(status, "post", "b"), "GET /end");
    assertEquals(await next(status, "put", "b"), "PUT /end b");
    assertEquals(await next(status, "head"), "HEAD /end");
  }
  for (const method of ["post", "put", "get"]) assertEquals(await next(303, method), "GET /end");
  assertEquals(await next(303, "head"), "HEAD /end");
  for (const status of [307, 308]) assertEquals(await next(status, "post", "b"), "POST /end b");
});

Deno.test("redirects: each hop is matched before it is asked; an unlisted one is refused and told, and nobody hears of it", async () => {
  await using other = serve(() => new Response("no"));
  await using server = serve(() => redirect(302, `http://127.0.0.1:${other.port}/secret`));
  const [from, to] = [`http://127.0.0.1:${server.port}`, `http://127.0.0.1:${other.port}`];
  await using narrow = openNetFixture({ entries: [from] });
  assertEquals(await refusal(() => ask(narrow, from)), { tag: "HTTP-request-denied" });
  assertEquals([narrow.denials.map(({ asked }) => asked), narrow.gateDenials, other.asked], [[to], [], []]);
  await using wide = openNetFixture({ entries: [from, to] });
  assertEquals((await ask(wide, from)).text, "no");
});

Deno.test("redirects: credentials go to the same origin and to no other", async () => {
  await using other = serve((request) => new Response(JSON.stringify([...request.headers.keys()])));
  await using server = serve((request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/end") return new Response(JSON.stringify([...request.headers.keys()]));
    return redirect(302, pathname === "/same" ? "/end" : `http://127.0.0.1:${other.port}/end`);
  });
  const entries = [server, other].map(({ port }) => `http://127.0.0.1:${port}`);
  await using net = openNetFixture({ entries });
  const headers = [["authorization", "a"], ["Cookie", "b"], ["x-keep", "c"]] as const;
  const seen = async (path: string) => JSON.parse((await ask(net, `${entries[0]}${path}`, { headers })).text).sort();
  assertEquals(await seen("/same"), ["authorization", "connection", "cookie", "host", "x-keep"]);
  assertEquals(await seen("/other"), ["connection", "host", "x-keep"]);
});

Deno.test("redirects: ten are followed, the eleventh is a loop", async () => {
  await using server = serve((request) => {
    const left = Number(new URL(request.url).pathname.slice(1));
    return left === 0 ? new Response("end") : redirect(302, `/${left - 1}`);
  });
  await using net = openNetFixture({ entries: [`http://127.0.0.1:${server.port}`] });
  assertEquals((await ask(net, `http://127.0.0.1:${server.port}/10`)).text, "end");
  assertEquals(await refusal(() => ask(net, `http://127.0.0.1:${server.port}/11`)), { tag: "loop-detected" });
});

Deno.test("redirects: one without a place to go, or whose body is gone, is the response", async () => {
  const places: Record<string, string | undefined> = {
    "/none": undefined,
    "/mail": "mailto:a@b",
    "/user": "http://u:p@a/",
  };
  await using server = serve((request) => redirect(307, places[new URL(request.url).pathname] ?? undefined));
  await using moved = serve(() => redirect(308, "/"));
  const entries = [server, moved].map(({ port }) => `http://127.0.0.1:${port}`);
  await using net = openNetFixture({ entries });
  for (const path of Object.keys(places)) assertEquals((await ask(net, `${entries[0]}${path}`)).status, 307);
  assertEquals((await ask(net, `${entries[1]}/`, { method: "put", body: LONG })).status, 308);
  assertEquals(moved.asked.length, 1);
});
