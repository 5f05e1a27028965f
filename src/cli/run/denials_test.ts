import { assertEquals, assertStringIncludes } from "@std/assert";
import { loadCapsule } from "../../manifest/mod.ts";
import { createSession, openHome, readTrace, TraceWriter } from "../../records/mod.ts";
import { captureContext } from "../context_fixture.ts";
import { Denials } from "./denials.ts";

const MANIFEST = `{
  "name": "x", "version": "1.0.0", "component": "x.wasm",
  "grants": {
    "fs": { "mounts": [
      { "guest": "/other", "mode": "ro" },
      { "guest": "/data", "mode": "ro" }
    ] }
  }
}`;

Deno.test("Denials: the flag and the manifest's line are printed and recorded, foreign text made safe", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    Deno.writeTextFileSync(`${folder}/capsule.jsonc`, MANIFEST);
    Deno.writeTextFileSync(`${folder}/x.wasm`, "");
    const capsule = await loadCapsule(folder);
    using places = createSession(openHome((name) => (name === "BOLL_HOME" ? `${folder}/home` : undefined)));
    using trace = new TraceWriter(places);
    const denials = new Denials(capsule, trace);
    denials.add({ grant: "fs", asked: "write /data/\x1b[2J", allow: "--mount /srv:/data:rw" });
    const { context, stderr } = captureContext({});
    denials.print(context);
    const place = `${capsule.manifestPath}:6 (grants.fs.mounts[1])`;
    assertEquals(
      stderr(),
      `boll: denied: write /data/\\u{1b}[2J; add --mount /srv:/data:rw, or change it in ${place}\n`,
    );
    const advising = new Denials(capsule, trace);
    advising.add({ grant: "fs", asked: "open /data/x; add --mount /:/data:rw", allow: "--mount HOST:GUEST" });
    const other = captureContext({});
    advising.print(other.context);
    assertStringIncludes(other.stderr(), 'denied: "open /data/x; add --mount /:/data:rw"; add --mount HOST:GUEST');
    const [event] = readTrace(places.trace).events;
    assertEquals(event!["allow"], { flag: "--mount /srv:/data:rw", manifest: place });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("Denials: a bare component has no manifest to change, and many hints are cut", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    Deno.writeTextFileSync(`${folder}/x.wasm`, "");
    const capsule = await loadCapsule(`${folder}/x.wasm`);
    using places = createSession(openHome((name) => (name === "BOLL_HOME" ? `${folder}/home` : undefined)));
    using trace = new TraceWriter(places);
    const denials = new Denials(capsule, trace);
    for (let i = 0; i < 7; i++) denials.add({ grant: "fs", asked: `write /a/${i}`, allow: "--mount X:/a:rw" });
    const { context, stderr } = captureContext({});
    denials.print(context);
    assertEquals(stderr().split("\n").length, 7);
    assertStringIncludes(stderr(), "boll: denied: 2 more");
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
