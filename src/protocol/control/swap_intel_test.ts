import { assert, assertEquals } from "@std/assert";
import { type Intelligence, MAX_ENDPOINTS, parseEndpoints, type SwapIntel, swapIntel } from "./mod.ts";

const SECRET = "hunter2";
const CURRENT: Intelligence = {
  uri: "https://a.example/v1,https://b.example",
  token: SECRET,
  model: "first",
  headers: [["x-key", SECRET]],
  dialect: "anthropic",
};

function swapOf(fields: Partial<SwapIntel>): SwapIntel {
  return { type: "swap_intel", uri: "https://new.example", policy: "finish-on-old", ...fields };
}

Deno.test("parseEndpoints: a comma list in failover order, https anywhere and http on loopback only", () => {
  const usable: readonly [uri: string, hrefs: readonly string[]][] = [
    ["https://a.example", ["https://a.example/"]],
    [" https://a.example/v1 , http://127.0.0.1:8080/v1", ["https://a.example/v1", "http://127.0.0.1:8080/v1"]],
    ["http://localhost:1,http://[::1]:2", ["http://localhost:1/", "http://[::1]:2/"]],
  ];
  for (const [uri, hrefs] of usable) {
    const endpoints = parseEndpoints(uri);
    assert(!("fault" in endpoints), uri);
    assertEquals(endpoints.map(({ href }) => href), hrefs);
  }
  const most = Array.from({ length: MAX_ENDPOINTS }, (_, i) => `https://${i}.example`).join();
  assert(!("fault" in parseEndpoints(most)));
  const unusable: readonly [uri: string, fault: string][] = [
    ["", "endpoint 1 of 1 in uri is empty"],
    ["https://a.example,", "endpoint 2 of 2 in uri is empty"],
    [SECRET, "endpoint 1 of 1 in uri is no URL"],
    ["https://", "endpoint 1 of 1 in uri is no URL"],
    [`file:///${SECRET}`, "endpoint 1 of 1 in uri is neither https nor http"],
    [`https://a.example,http://${SECRET}.example`, "endpoint 2 of 2 in uri is http and not on loopback, use https"],
    ["http://127.0.0.1.example", "endpoint 1 of 1 in uri is http and not on loopback, use https"],
    [`https://user:${SECRET}@a.example`, "endpoint 1 of 1 in uri holds a user or password, use token"],
    [`https://a.example#${SECRET}`, "endpoint 1 of 1 in uri has a fragment"],
    ["https://a.example,https://A.example:443/", "endpoint 2 of 2 in uri is there twice"],
    [`${most},https://more.example`, `uri names ${MAX_ENDPOINTS + 1} endpoints, at most ${MAX_ENDPOINTS}`],
  ];
  for (const [uri, fault] of unusable) assertEquals(parseEndpoints(uri), { fault });
});

Deno.test("swapIntel: an unusable uri leaves endpoint and model as they were, and is reported without a word of it", () => {
  for (const uri of ["", SECRET, `https://ok.example,ftp://${SECRET}`, `http://${SECRET}.example`]) {
    for (const policy of ["finish-on-old", "restart-turn"] as const) {
      const { next, report } = swapIntel(CURRENT, swapOf({ uri, policy, model: "second", token: SECRET }));
      assertEquals([next, report.event], [CURRENT, "intel.swap.reject"]);
      assert(!JSON.stringify(report).includes(SECRET));
    }
  }
});

Deno.test("swapIntel: what is left out is kept, but a credential goes to no other origin than before", () => {
  const { headers: _, token: __, ...bare } = CURRENT;
  const rows: readonly [SwapIntel, Intelligence][] = [
    [swapOf({}), { ...bare, uri: "https://new.example", headers: [] }],
    [swapOf({ token: "t", headers: [["a", "b"]], dialect: "openai", model: "second" }), {
      uri: "https://new.example",
      token: "t",
      model: "second",
      headers: [["a", "b"]],
      dialect: "openai",
    }],
    [swapOf({ uri: CURRENT.uri, model: "second" }), { ...CURRENT, model: "second" }],
    [swapOf({ uri: "https://a.example/v2,https://b.example/v2" }), {
      ...CURRENT,
      uri: "https://a.example/v2,https://b.example/v2",
    }],
    [swapOf({ uri: CURRENT.uri, headers: [] }), { ...CURRENT, headers: [] }],
    [swapOf({ uri: "https://b.example,https://a.example/v1" }), {
      ...bare,
      uri: "https://b.example,https://a.example/v1",
      headers: [],
    }],
    [swapOf({ uri: `${CURRENT.uri},https://c.example` }), {
      ...bare,
      uri: `${CURRENT.uri},https://c.example`,
      headers: [],
    }],
  ];
  for (const [swap, next] of rows) {
    const result = swapIntel(CURRENT, swap);
    assertEquals(result.next, next);
    assertEquals(result.report.event, "intel.swap");
    assert(!JSON.stringify(result.report).includes(SECRET));
  }
});

Deno.test("swapIntel: a turn is run again only by restart-turn, and only if the model really changed", () => {
  const rows: readonly [Partial<SwapIntel>, restart: boolean, model: string][] = [
    [{ policy: "restart-turn", model: "second" }, true, "second"],
    [{ policy: "restart-turn", model: "first" }, false, "first"],
    [{ policy: "restart-turn" }, false, "first"],
    [{ policy: "finish-on-old", model: "second" }, false, "second"],
    [{}, false, "first"],
  ];
  for (const [swap, restart, model] of rows) {
    const { report } = swapIntel(CURRENT, swapOf(swap));
    assertEquals(report, { event: "intel.swap", fields: { model, restart } });
  }
  const { model: _, ...unnamed } = CURRENT;
  const { next, report } = swapIntel(unnamed, swapOf({ policy: "restart-turn" }));
  assertEquals([next.model, report], [undefined, { event: "intel.swap", fields: { restart: false } }]);
  assertEquals(swapIntel(unnamed, swapOf({ policy: "restart-turn", model: "a" })).report.fields, {
    model: "a",
    restart: true,
  });
});
