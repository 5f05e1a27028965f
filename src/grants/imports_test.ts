import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseManifest } from "../manifest/mod.ts";
import { grantsWith } from "./arbitrary_fixture.ts";
import { checkImports, refuseImports, toImports } from "./imports.ts";

const ALL = grantsWith({});
const NONE = grantsWith({ stdio: false, clocks: false, random: false });

Deno.test("checkImports: io, cli and filesystem always link; clocks and random with their grant only", () => {
  const always = ["wasi:io/streams@0.2.0", "wasi:cli/stdin@0.2.6", "wasi:filesystem/types@0.2.99", "wasi:cli/exit"];
  assertEquals(checkImports(always, NONE), []);
  const gated = ["wasi:clocks/wall-clock@0.2.0", "wasi:random/insecure-seed@0.2.3"];
  assertEquals(checkImports(gated, ALL), []);
  assertEquals(checkImports(gated, NONE).map(({ interface: name, grant }) => [name, grant]), [
    [gated[0], "clocks"],
    [gated[1], "random"],
  ]);
});

Deno.test("checkImports: network, delegation, other versions and everything unknown are refused whatever the grants", () => {
  const table: readonly (readonly [name: string, grant: string | undefined])[] = [
    ["wasi:http/outgoing-handler@0.2.0", "net"],
    ["wasi:sockets/tcp@0.2.0", "net"],
    ["wasi:http/incoming-handler@0.2.0", undefined],
    ["wasi:sockets/raw@0.2.0", undefined],
    ["wasi:http/types@0.3.0", undefined],
    ["boll:capsule/host", undefined],
    ["boll:capsule/host@0.1.1", undefined],
    ["boll:capsule/other@0.1.0", undefined],
    ["boll:capsule/host@0.1.0", "spawn"],
    ["wasi:io/streams@0.3.0", undefined],
    ["wasi:io/streams@0.2.0-rc.1", undefined],
    ["wasi:io/streams@0.20", undefined],
    ["wasi:io/unheard-of@0.2.0", undefined],
    ["wasi:clocks/timezone@0.2.0", undefined],
    ["wasi:cli/stdin@0.2.0\n", undefined],
    ["WASI:io/streams", undefined],
    ["__proto__", undefined],
    ["constructor", undefined],
    ["", undefined],
    ["my:own/thing", undefined],
  ];
  for (const [name, grant] of table) {
    const [missing, ...more] = checkImports([name], ALL);
    assertEquals([missing?.grant, more.length], [grant, 0], name);
    assert(missing!.reason.length > 0);
  }
});

Deno.test("checkImports: http and sockets link each with their own entries only", () => {
  const http = ["wasi:http/types@0.2.3", "wasi:http/outgoing-handler@0.2.3"];
  const sockets = [
    "network",
    "instance-network",
    "tcp",
    "tcp-create-socket",
    "udp",
    "udp-create-socket",
    "ip-name-lookup",
  ]
    .map((name) => `wasi:sockets/${name}@0.2.0`);
  const refused = (net: string[], imports: string[]) =>
    checkImports(imports, grantsWith({ net })).map((one) => one.grant);
  for (const entry of ["https://a.b", "http://*.a.b", "https://[::1]:1"]) {
    assertEquals([refused([entry], http), refused([entry], sockets)], [[], sockets.map(() => "net")], entry);
  }
  for (const entry of ["tcp://a.b:1", "udp://a.b:1", "listen:1"]) {
    assertEquals([refused([entry], sockets), refused([entry], http)], [[], http.map(() => "net")], entry);
  }
  assertEquals([refused([], http), refused([], sockets)], [http.map(() => "net"), sockets.map(() => "net")]);
});

Deno.test("checkImports: a missing network names flag and manifest line, or the ceiling that took it", async () => {
  const [bare] = checkImports(["wasi:http/types@0.2.0"], ALL);
  assertEquals([bare?.allow, bare?.manifestLine], ["--net https://HOST", undefined]);
  const text = (net: string) => `{ "name": "a", "version": "1.0.0", "component": "a.wasm",\n  "grants": { ${net} } }`;
  const silent = await parseManifest(text(""), "capsule.jsonc");
  const [missing] = checkImports(["wasi:sockets/tcp@0.2.0"], ALL, silent);
  assertEquals(
    refuseImports([missing!], "/c/capsule.jsonc").message,
    "Link import wasi:sockets/tcp@0.2.0: it needs the grant net, a tcp://, udp:// or listen: entry (/c/capsule.jsonc:2); " +
      `allow it with --net tcp://HOST:PORT or "net": ["tcp://HOST:PORT"] in grants`,
  );
  const declared = await parseManifest(text(`"net": ["tcp://a.b:1"]`), "capsule.jsonc");
  assertEquals(
    checkImports(["wasi:sockets/tcp@0.2.0"], ALL, declared)[0]?.allow,
    "net in the ceiling of boll.jsonc, and no --no-net",
  );
});

Deno.test("checkImports: delegation links exactly when spawn names a capsule, in the one version there is", async () => {
  const [host, spawning] = ["boll:capsule/host@0.1.0", grantsWith({ spawn: ["worker"] })];
  assertEquals(checkImports([host], spawning), []);
  for (const other of ["boll:capsule/host", "boll:capsule/host@0.2.0", "boll:capsule/host@0.1.00"]) {
    assertEquals(checkImports([other], spawning)[0]?.reason, "only boll:capsule 0.1.0 is provided", other);
  }
  assertEquals([toImports(ALL), toImports(spawning)].map((names) => names.includes("boll:capsule/host")), [
    false,
    true,
  ]);
  const text = (grants: string) =>
    `{ "name": "a", "version": "1.0.0", "component": "a.wasm",\n  "grants": { ${grants} } }`;
  const refusal = async (grants: string) =>
    refuseImports(checkImports([host], ALL, await parseManifest(text(grants), "capsule.jsonc")), "/c/capsule.jsonc")
      .message;
  const start = `Link import ${host}: it needs the grant spawn (/c/capsule.jsonc:2); allow it with `;
  for (const silent of ["", `"spawn": []`]) {
    assertEquals(await refusal(silent), `${start}"spawn": ["CAPSULE"] in grants`);
  }
  assertEquals(await refusal(`"spawn": ["worker"]`), `${start}spawn in the ceiling of boll.jsonc`);
  const [bare] = checkImports([host], ALL);
  assertEquals([bare?.grant, bare?.manifestLine], ["spawn", undefined]);
  assert(bare!.reason.includes("only a manifest") && bare!.allow!.includes("capsule.jsonc"));
});

Deno.test("checkImports: links nothing that toImports does not name, for any text", () => {
  const names = new Set(toImports(ALL));
  const part = fc.constantFrom("wasi", ":", "io", "/", "streams", "cli", "run", "@0.2.0", "@", "x", " ");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }).map((parts) => parts.join("")), (name) => {
      if (checkImports([name], ALL).length === 0) assert(names.has(name.replace(/@0\.2\.0$/, "")), name);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("refuseImports: names interface, missing grant and the manifest's line; hostile names are made safe", async () => {
  const manifest = await parseManifest(
    `{ "name": "a", "version": "1.0.0", "component": "a.wasm",\n  "grants": {\n    "clocks": false\n  } }`,
    "capsule.jsonc",
  );
  const [missing] = checkImports(["wasi:clocks/wall-clock@0.2.0"], NONE, manifest);
  const error = refuseImports([missing!], "/c/capsule.jsonc");
  assertEquals([error.code, error.exitStatus], ["grant.import_not_granted", 5]);
  assertEquals(
    error.message,
    `Link import wasi:clocks/wall-clock@0.2.0: it needs the grant clocks (/c/capsule.jsonc:3); allow it with "clocks": true in grants`,
  );
  const hostile = refuseImports(
    checkImports(Array.from({ length: 1000 }, (_, i) => `\x1b[31m${"x".repeat(5000)}${i}`), ALL),
  );
  assert(!hostile.problems.join("").includes("\x1b") && hostile.problems.join("").length < 10_000);
  assertEquals(hostile.problems.at(-1), "… and 980 more");
});

Deno.test("checkImports: what requests are made of links for a service without a net grant, the way out does not", () => {
  const names = ["wasi:http/types@0.2.3", "wasi:http/outgoing-handler@0.2.3"];
  const missing = (role: "service" | "command") =>
    checkImports(names, NONE, undefined, role).map((one) => one.interface);
  assertEquals(missing("service"), [names[1]]);
  assertEquals(missing("command"), names);
});

Deno.test("checkImports: a tool may always speak to boll, of that one version, and has nothing else for it", () => {
  assertEquals(checkImports(["boll:capsule/host@0.1.0"], NONE, undefined, "tool"), []);
  assertEquals(checkImports(["boll:capsule/host@0.1.0"], NONE).map(({ grant }) => grant), ["spawn"]);
  const rest = [
    "boll:capsule/host@0.2.0",
    "boll:capsule/other@0.1.0",
    "wasi:http/types@0.2.0",
    "wasi:clocks/wall-clock",
  ];
  assertEquals(
    checkImports(rest, NONE, undefined, "tool").map(({ interface: name }) => name),
    rest,
  );
});
