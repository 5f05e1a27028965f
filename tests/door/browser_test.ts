import { assert, assertEquals } from "@std/assert";
import { forExecutable } from "../harness.ts";
import { serve } from "../process/served.ts";
import { ask, message } from "./wire_client.ts";

/** A browser of this machine; a page of elsewhere is only what a browser makes of it. */
const BROWSER = ["chromium", "chromium-browser", "google-chrome"].flatMap((name) =>
  (Deno.env.get("PATH") ?? "").split(":").map((folder) => `${folder}/${name}`)
).find(isFile);

/** What the page tries, each by its name; the text says how it went. */
type Outcomes = Readonly<Record<string, string>>;

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** A page that tries all it can at the door, and then tells its own server how that went. */
function hostilePage(port: number): string {
  const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: message("from a page") });
  return `<!doctype html><form id=f method=post enctype="text/plain" target=frame action="http://127.0.0.1:${port}/">
<input name='${call.slice(0, -2)},"x":"' value='"}}'></form><iframe name=frame></iframe><script>
const body = ${JSON.stringify(call)}, outcomes = {};
const attempt = async (name, doIt) => { try { outcomes[name] = String(await doIt()); } catch (error) { outcomes[name] = error.name; } };
const post = (url, more) => fetch(url, { method: "POST", body, ...more }).then((reply) => reply.type + " " + reply.status);
const json = { headers: { "content-type": "application/json", "a2a-version": "1.0" } };
const door = "http://127.0.0.1:${port}/", rebound = "http://rebound.test:${port}/";
const loaded = (frame) => new Promise((resolve) => frame.onload = resolve);
(async () => {
  await attempt("cross-origin", () => post(door, json));
  await attempt("cross-origin without preflight", () => post(door, { mode: "no-cors" }));
  await attempt("cross-origin as text", () => post(door, { headers: { "content-type": "text/plain" } }));
  await attempt("rebound", () => post(rebound, { mode: "no-cors" }));
  await attempt("read the card", () => fetch(door + ".well-known/agent-card.json").then((reply) => reply.text()));
  await attempt("image", () => new Promise((resolve, reject) => { const image = new Image(); image.onload = resolve; image.onerror = () => reject(new TypeError()); image.src = door + "healthz"; }));
  await attempt("web socket", () => new Promise((resolve, reject) => { const socket = new WebSocket("ws://127.0.0.1:${port}/"); socket.onopen = () => resolve("open"); socket.onerror = () => reject(new TypeError()); }));
  await attempt("event source", () => new Promise((resolve, reject) => { const source = new EventSource(door + "v1/tasks/x:subscribe"); source.onopen = () => resolve("open"); source.onerror = () => { source.close(); reject(new TypeError()); }; }));
  await attempt("beacon", () => navigator.sendBeacon(door, new Blob([body], { type: "text/plain" })));
  await attempt("form", async () => { const frame = document.querySelector("iframe"); const done = loaded(frame); f.submit(); await done; return "sent"; });
  await fetch("/outcomes", { method: "POST", body: JSON.stringify(outcomes) });
})();
</script>`;
}

/** Opens the page in the browser, and gives what it told its server. */
async function browse(port: number): Promise<Outcomes> {
  const { promise, resolve } = Promise.withResolvers<Outcomes>();
  await using site = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    if (new URL(request.url).pathname !== "/outcomes") {
      return new Response(hostilePage(port), { headers: { "content-type": "text/html" } });
    }
    resolve(await request.json());
    return new Response();
  });
  const profile = Deno.makeTempDirSync();
  const browser = new Deno.Command(BROWSER!, {
    args: [
      ...["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", `--user-data-dir=${profile}`],
      "--host-resolver-rules=MAP evil.test 127.0.0.1, MAP rebound.test 127.0.0.1, EXCLUDE 127.0.0.1, MAP * ~NOTFOUND",
      `http://evil.test:${site.addr.port}/`,
    ],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    return await Promise.race([promise, browser.status.then(() => Promise.reject(new Error("the browser ended")))]);
  } finally {
    browser.kill("SIGKILL");
    await browser.status;
    // Its own children may still be at it for a moment.
    await Deno.remove(profile, { recursive: true }).catch(() => {});
  }
}

const NAME =
  "serve --open: a page of elsewhere in a real browser gets nothing done at its door, and reads nothing of it";

if (BROWSER === undefined) Deno.test.ignore(`${NAME} (NOT RUN: no Chromium here)`, () => {});
else {
  forExecutable(NAME, async (bed) => {
    const served = await serve(bed, { flags: ["--open"] });
    const port = Number(new URL(served.url).port);
    const outcomes = await browse(port);
    const refused = ["cross-origin", "cross-origin as text", "read the card", "image", "web socket", "event source"];
    for (const name of refused) assertEquals(outcomes[name], "TypeError", name);
    // What a browser sends without asking first is sent, and its answer is hidden: only the door can refuse it.
    for (const name of ["cross-origin without preflight", "rebound"]) assertEquals(outcomes[name], "opaque 0", name);
    assertEquals(outcomes.form, "sent");
    const { body } = await ask(port, { method: "GET", path: "/metrics" });
    const counts = [...body.matchAll(/^boll_door_requests_total\{route="(\w+)",code="(\w+)"\} (\d+)$/gm)];
    const count = (route: string, code: string) =>
      Number(counts.find(([, one, two]) => one === route && two === code)?.[3] ?? 0);
    // They did come, and nobody was let in: one without preflight, one as text, one rebound, a beacon, a form.
    assert(count("rpc", "4xx") >= 4, body);
    assertEquals([count("rpc", "2xx"), count("card", "2xx"), count("healthz", "2xx")], [0, 0, 0]);
    // The same message from no page is a task: the only one.
    assertEquals((await served.send("1 + 1")).status.state, "TASK_STATE_COMPLETED");
    assertEquals(await served.stop(), 0);
    assertEquals(served.trace.filter(({ event }) => event === "task_start" || event === "task_rejected").length, 1);
  });
}
