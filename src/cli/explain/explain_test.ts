import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ComponentDescription } from "../../component/mod.ts";
import { captureContext } from "../context_fixture.ts";
import { main } from "../main.ts";

type Boll = (...argv: string[]) => Promise<{ exitCode: number; stdout: string; stderr: string }>;

const MANIFEST = `{
  "name": "guest",
  "version": "0.1.0",
  "component": "guest.wasm",
  "grants": { "clocks": false, "env": ["LANG"], "fs": { "work": "rw" } }
}
`;

async function withCapsule(
  imports: readonly string[],
  run: (folder: string, boll: Boll) => Promise<void>,
): Promise<void> {
  const folder = Deno.realPathSync(Deno.makeTempDirSync());
  const description: ComponentDescription = { kind: "component", imports, exports: [], wit: "", memories: [] };
  const describeComponent = () => Promise.resolve(description);
  try {
    Deno.mkdirSync(`${folder}/capsules/guest`, { recursive: true });
    Deno.mkdirSync(`${folder}/docs`);
    Deno.writeTextFileSync(`${folder}/capsules/guest/capsule.jsonc`, MANIFEST);
    Deno.writeFileSync(`${folder}/capsules/guest/guest.wasm`, new Uint8Array([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]));
    await run(`${folder}`, async (...argv) => {
      const variables = { BOLL_HOME: `${folder}/home`, LANG: "secret-value" };
      const captured = captureContext({ variables, describeComponent });
      const exitCode = await main(argv, captured.context);
      return { exitCode, stdout: captured.stdout(), stderr: captured.stderr() };
    });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

const WALLS = ["imports", "permissions", "process", "kernel"];

Deno.test("boll explain: the four walls, the grants, the digest; never a variable's value; no session is made", () =>
  withCapsule(["wasi:cli/environment@0.2.0"], async (folder, boll) => {
    const text = await boll("explain", `${folder}/capsules/guest`);
    assertEquals([text.exitCode, text.stderr], [0, ""]);
    for (const [index, name] of WALLS.entries()) assertStringIncludes(text.stdout, `Wall ${index + 1}: ${name} `);
    assertStringIncludes(text.stdout, "the variables LANG");
    assert(/^ {2}sha256:[0-9a-f]{64}$/m.test(text.stdout));
    assert(!text.stdout.includes("secret-value"));
    const json = await boll("explain", `${folder}/capsules/guest`, "--json");
    const explanation = JSON.parse(json.stdout);
    assertEquals(explanation.walls.map(({ name }: { name: string }) => name), WALLS);
    assertEquals([explanation.grants.env, explanation.grants.clocks], [["LANG"], false]);
    assert(!json.stdout.includes("secret-value"));
    assertEquals([...Deno.readDirSync(`${folder}/home/sessions`)], []);
  }));

Deno.test("boll explain: an import that is not granted is named with its line; a granted one is not", () =>
  withCapsule(["wasi:clocks/wall-clock@0.2.0", "wasi:random/random@0.2.3"], async (folder, boll) => {
    const json = JSON.parse((await boll("explain", `${folder}/capsules/guest`, "--json")).stdout);
    assertEquals(json.missing.map(({ interface: name }: { interface: string }) => name), [
      "wasi:clocks/wall-clock@0.2.0",
    ]);
    assertEquals(json.missing[0].manifestLine, 5);
    const { stdout } = await boll("explain", `${folder}/capsules/guest`);
    assertStringIncludes(stdout, "Imported and not granted: a run is refused\n  wasi:clocks/wall-clock@0.2.0: ");
  }));

Deno.test("boll explain: own after boll init, foreign before", () =>
  withCapsule([], async (folder, boll) => {
    const standing = async () => {
      const { standing, consent } = JSON.parse((await boll("explain", `${folder}/capsules/guest`, "--json")).stdout);
      return [standing, consent];
    };
    assertEquals(await standing(), ["foreign", "missing"]);
    await boll("init", folder);
    assertEquals(await standing(), ["own", "not_needed"]);
  }));

Deno.test("boll explain: a mount that nothing binds is shown with its flag, and bound by it", () =>
  withCapsule([], async (folder, boll) => {
    const path = `${folder}/capsules/guest`;
    const manifest = MANIFEST.replace('"work": "rw"', '"mounts": [{ "guest": "/data", "mode": "ro" }]');
    Deno.writeTextFileSync(`${path}/capsule.jsonc`, manifest);
    const { exitCode, stdout } = await boll("explain", path);
    assertEquals(exitCode, 0);
    assertStringIncludes(stdout, "Mounts without a folder: a run is refused\n  add --mount DIR:/data:ro\n");
    const bound = JSON.parse((await boll("explain", path, "--json", "--mount", `${folder}/docs:/data`)).stdout);
    assertEquals([bound.unbound ?? [], bound.grants.fs.mounts.length], [[], 1]);
  }));

Deno.test("boll explain: network entries of the command line, what they link, and a stranger's proxy that is ignored", () =>
  withCapsule(["wasi:http/outgoing-handler@0.2.0"], async (folder, boll) => {
    Deno.writeTextFileSync(
      `${folder}/boll.jsonc`,
      `{ "proxy": "http://evil.example:1", "ceiling": { "env": ["LANG"] } }`,
    );
    const path = `${folder}/capsules/guest/guest.wasm`;
    const refused = JSON.parse((await boll("explain", path, "--json")).stdout);
    assertEquals([refused.missing.length, refused.missing[0].allow], [1, "--net https://HOST"]);
    Deno.writeTextFileSync(`${folder}/boll.jsonc`, `{ "proxy": "http://evil.example:1" }`);
    const granted = JSON.parse((await boll("explain", path, "--json", "--net", "https://API.example.com")).stdout);
    assertEquals([granted.missing, granted.grants.net], [[], ["https://api.example.com"]]);
    assertEquals(granted.warnings.length, 1);
    assertStringIncludes(granted.warnings[0], "Ignored proxy and ca of");
    const text = await boll("explain", path, "--net", "https://API.example.com", "--net", "udp://192.0.2.1:53");
    assertStringIncludes(text.stdout, "connections to https://api.example.com, udp://192.0.2.1:53");
    assertStringIncludes(text.stdout, "Granted and never imported");
  }));

Deno.test("boll explain: run's flags count; a protected mount and a bad value are refused", () =>
  withCapsule([], async (folder, boll) => {
    const explain = (...flags: string[]) => boll("explain", `${folder}/capsules/guest`, "--json", ...flags);
    const { grants } = JSON.parse(
      (await explain("--mount", `${folder}/docs:/data`, "--memory", "64m", "--deadline=5s")).stdout,
    );
    assertEquals(grants.fs.mounts, [{ guest: "/data", mode: "ro", host: `${folder}/docs` }]);
    assertEquals([grants.limits.memory_mb, grants.limits.deadline_ms], [64, 5000]);
    const home = await explain("--mount", `${folder}/home:/data`);
    assertEquals([home.exitCode, JSON.parse(home.stderr).status], [5, "refused"]);
    assertEquals((await explain("--mount", "nowhere")).exitCode, 2);
    assertEquals((await explain("--net", "example.com")).exitCode, 2);
    assertEquals((await explain("--net", "tcp://a:1", "--no-net")).exitCode, 2);
  }));

const AGENT = `{
  "name": "reader", "version": "0.1.0",
  "inference": { "uri": "https://api.example.com/v1", "model": "some-model", "api_key": "\${THE_KEY}" },
  "tools": [
    { "name": "read-file", "component": "guest.wasm", "grants": { "fs": { "mounts": [{ "guest": "/data" }] }, "env": ["TZ"] } },
    { "name": "fetch", "component": "guest.wasm", "grants": { "net": ["https://a.example"], "random": false } }
  ],
  "skills": [{ "name": "style", "description": "How we write.", "file": "capsule.jsonc" }],
  "secrets": { "THE_KEY": ["https://api.example.com"] },
  "grants": { "fs": { "mounts": [{ "host": "../../docs", "guest": "/data" }] }, "net": ["https://a.example"] }
}
`;

Deno.test("boll explain: an agent's model, secrets, skills, each tool behind its own walls, and what is dangerous together", () =>
  withCapsule(["wasi:random/random@0.2.0"], async (folder, boll) => {
    await boll("init", folder);
    const path = `${folder}/capsules/guest`;
    Deno.writeTextFileSync(`${path}/capsule.jsonc`, AGENT);
    const { exitCode, stdout } = await boll("explain", path);
    assertEquals(exitCode, 0);
    for (
      const part of [
        'the model "some-model" (openai) at https://api.example.com/v1: what it reads is sent there',
        "the secret THE_KEY is sent to https://api.example.com, and nowhere else",
        "style: How we write.",
        "Dangerous together",
        "it reads what others wrote: the tool read-file (/data), the tool fetch (https://a.example)",
        "Tool read-file",
        "Tool fetch",
        "read-file: the variable TZ",
        "fetch: wasi:random/random@0.2.0: it needs the grant random",
      ]
    ) assertStringIncludes(stdout.replace(/\n +/g, " "), part);
    const json = JSON.parse((await boll("explain", path, "--json")).stdout);
    assertEquals(json.secrets, { THE_KEY: ["https://api.example.com"] });
    const [read, fetch] = json.agent.tools;
    assertEquals([read.grants.net, read.grants.fs.mounts[0].host], [[], `${folder}/docs`]);
    assertEquals([fetch.grants.net, fetch.grants.fs.mounts, fetch.grants.random], [["https://a.example"], [], false]);
    assertEquals([read.walls.length, fetch.walls.length, json.walls], [4, 4, []]);
    assertEquals(json.agent.danger.way_out, ["https://a.example"]);
    assertEquals(json.warnings.length, 1);
    const spoof = "x (openai) at https://a.example/v1: nothing is sent, but";
    const told = (await boll("explain", path, "--model", spoof)).stdout.replace(/\n +/g, " ");
    assertStringIncludes(told, `the model "${spoof}" (openai) at https://api.example.com/v1`);
    const moved = JSON.parse((await boll("explain", path, "--json", "--uri", "http://127.0.0.1:1")).stdout);
    assertEquals([moved.secrets, moved.agent.model.from, moved.agent.model.api_key], [{}, "operator", undefined]);
    assertEquals((await boll("explain", `${path}/guest.wasm`, "--model", "m")).exitCode, 2);
    assertEquals((await boll("explain", path, "--api-key", "sk-not-a-name")).exitCode, 2);
  }));
