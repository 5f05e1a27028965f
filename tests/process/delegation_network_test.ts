import { assertEquals, assertStringIncludes } from "@std/assert";
import { forExecutable } from "../harness.ts";
import { DelegatingWorkspace } from "./delegating_workspace.ts";

forExecutable(
  "boll run: a child reaches its own part of its parent's network, through a gate of its own, and has its own part of the variables",
  async (bed) => {
    await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("here"));
    await using other = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("there"));
    const [here, there] = [server, other].map(({ addr }) => `http://127.0.0.1:${addr.port}`);
    const space = new DelegatingWorkspace(bed);
    await space.capsule("asker", {
      grants: { spawn: ["worker"], net: [here, there], env: ["GIVEN", "KEPT"], clocks: true },
    });
    await space.capsule("worker", {
      guest: "http_probe",
      grants: { net: [here], env: ["GIVEN"] },
      source: `({ env, got: ["${here}", "${there}"].map((url) => attempt(() => request(url + "/").status)) })`,
    });
    await space.lock();
    const source = `waitFor(delegate({ capsule: "worker" }))`;
    const run = bed.start(space.command("asker", source), { env: { GIVEN: "one", KEPT: "two" } });
    const { code, stdout, stderr } = await run.result();
    assertEquals(code, 0, stderr);
    const text = String(JSON.parse(stdout));
    assertStringIncludes(text, "ended ok");
    const { env, got: [first, second] } = JSON.parse(/^result:\n(.*)$/m.exec(text)![1]!);
    assertEquals([env, first], [{ GIVEN: "one" }, { ok: 200 }]);
    assertEquals(second, { err: { tag: "HTTP-request-denied" } });
  },
);
