import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Intelligence } from "../../src/protocol/control/mod.ts";
import { ModelServer } from "./model_server.ts";

const NOTHING = { env: false, ffi: false, import: false, read: false, run: false, sys: false, write: false } as const;

/** What the model says to a worker with that network and nothing else. */
async function askConfined(intelligence: Intelligence, net: readonly string[]): Promise<unknown> {
  const url = new URL("./confined_worker_fixture.ts", import.meta.url);
  const worker = new Worker(url, { type: "module", deno: { permissions: { ...NOTHING, net: [...net] } } });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(intelligence);
    });
  } finally {
    worker.terminate();
  }
}

for (const dialect of ["openai", "anthropic"] as const) {
  Deno.test(`openModel (${dialect}): a worker needs its endpoint's origin, and no environment, file or other permission`, async () => {
    await using server = ModelServer.start({ turns: [{ text: "Hi" }] });
    const { host } = new URL(server.url);
    const intelligence: Intelligence = { uri: server.url, model: "any", token: "sk", headers: [], dialect };
    assertStringIncludes(String(await askConfined(intelligence, [])), "this process may not reach it");
    assertEquals(server.requests.length, 0);
    assertEquals(await askConfined(intelligence, [host]), "Hi");
  });
}
