import { assertEquals, assertMatch } from "@std/assert";
import { VERBS } from "../../src/cli/verbs.ts";
import { type Bed, fixture, forMode } from "../harness.ts";

/** Clears the screen, sets the window's title, turns the text around, and colours it by a single byte. */
const HOSTILE = "\u001b[2J\u001b]0;title\u0007\u202e\u009b31m";

/** What must not reach a terminal: controls but newline and tab, and characters that are not seen. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

/** A capsule in a folder of such a name, with such texts wherever a manifest has some. */
function hostileCapsule(bed: Bed, component: string, manifest: Record<string, unknown>): string {
  const text = JSON.stringify({ name: "evil", version: "0.1.0", component: "guest.wasm", ...manifest });
  const folder = bed.folder(`evil-${HOSTILE}-${crypto.randomUUID()}`, { "capsule.jsonc": text });
  Deno.copyFileSync(component, `${folder}/guest.wasm`);
  return folder;
}

/** Verb → command lines that show text of others, or repeat what they were told. */
function commandLines(bed: Bed, capsules: readonly string[]): Record<string, readonly (readonly string[])[]> {
  const missing = `nowhere-${HOSTILE}`;
  const onCapsules = (verb: string) => [...capsules, missing].map((capsule) => [verb, capsule]);
  const repeats = (verb: string) => [[verb, HOSTILE], [verb, `--${HOSTILE}`]];
  return {
    run: [
      ...onCapsules("run"),
      ...capsules.map((capsule) => ["run", capsule, "--accept", "--dry-run"]),
      ["run", capsules[0]!, "--mount", `${bed.root}/${HOSTILE}:/${HOSTILE}:ro`],
      ["run", capsules[0]!, "--net", HOSTILE],
      ["run", capsules[0]!, "--env", HOSTILE],
    ],
    "serve-http": [...onCapsules("serve-http"), ["serve-http", capsules[0]!, "--listen", HOSTILE]],
    check: onCapsules("check"),
    explain: [...onCapsules("explain"), ["explain", capsules[0]!, "--json"]],
    trace: [...repeats("trace"), ["trace", "show", HOSTILE], ["trace", "show", "last"], ["trace", "follow", "last"]],
    sessions: [...repeats("sessions"), ["sessions"], ["sessions", "--json"], ["sessions", "--status", HOSTILE]],
    ps: [...repeats("ps"), ["ps"]],
    stop: repeats("stop"),
    pause: repeats("pause"),
    resume: repeats("resume"),
    logs: [...repeats("logs"), ["logs", "last"]],
    rm: repeats("rm"),
    gc: [...repeats("gc"), ["gc", "--older-than", HOSTILE], ["gc", "--dry-run"]],
    init: [...repeats("init"), ["init", capsules[0]!]],
    lock: [...repeats("lock"), ["lock", capsules[0]!]],
    doctor: [...repeats("doctor"), ["doctor"]],
    version: repeats("version"),
    help: repeats("help"),
  };
}

forMode("binary", "boll: no verb lets escape codes of names, manifests, guests and arguments through", async (bed) => {
  const hello = await fixture("hello_stdio");
  const probe = await fixture("probe");
  const texts = { description: HOSTILE, args: [HOSTILE] };
  const capsules = [
    hostileCapsule(bed, hello, texts),
    hostileCapsule(bed, hello, { ...texts, grants: { fs: { mounts: [{ guest: `/${HOSTILE}`, mode: "ro" }] } } }),
    hostileCapsule(bed, hello, { ...texts, grants: { env: [HOSTILE], net: [`https://${HOSTILE}`] } }),
    hostileCapsule(bed, hello, { [HOSTILE]: HOSTILE, name: HOSTILE }),
    hostileCapsule(bed, await fixture("wants_evil"), texts),
  ];
  // A guest asks for what it may not have, by such a name: boll says so, and records it.
  const asks = 'attempt(() => open("/data/../" + args[0])); null';
  const flags = ["--mount", `${bed.folder("data")}:/data:ro`];
  const denied = await bed.run(["run", probe, ...flags, "--", asks, HOSTILE]);
  const lines = commandLines(bed, capsules);
  assertEquals(Object.keys(lines).sort(), VERBS.map(({ name }) => name).sort());
  const shown = [["denied", denied.stdout + denied.stderr]];
  for (const words of Object.values(lines).flat()) {
    const { stdout, stderr } = await bed.run(words);
    shown.push([words.join(" "), stdout + stderr]);
  }
  const unsafe = shown.filter(([, text]) => UNSAFE.test(text!.replace(/[\n\t]/g, "")));
  assertEquals(unsafe, []);
  // The text is there, in a form that does nothing.
  assertMatch(denied.stderr, /\\u001b\[2J/);
});
