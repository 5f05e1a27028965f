import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import type { DoorScript } from "../../../tests/fixtures/hull/try_door.ts";
import { NO_GRANTS } from "../../grants/mod.ts";
import { probeHull } from "../../hull/mod.ts";
import { freePort } from "../network/free_port.ts";
import { supervisorRules } from "./supervisor_hull.ts";

const PROGRAM = join(import.meta.dirname!, "../../../tests/fixtures/hull/try_door.ts");
const CONFIG = join(import.meta.dirname!, "../../../deno.json");

/** Ports are bound by Landlock from ABI 4 on. */
const isHeld = probeHull().landlockAbi >= 4;

Deno.test({
  name:
    "DoorHull: the port is bound and answers; no second one is, before or after, and nobody is connected to; who takes nothing is cut off",
  ignore: !isHeld,
  async fn() {
    const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "boll-door-" }));
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const places = { cache: folder, session: folder, tmp: `${folder}/cell` };
    const script: DoorScript = {
      rules: supervisorRules(NO_GRANTS, places, false),
      port: freePort("127.0.0.1")!,
      free: freePort("127.0.0.1")!,
      elsewhere: listener.addr.port,
    };
    const args = [
      "run",
      "-q",
      "-A",
      "--no-check",
      "--cached-only",
      "--config",
      CONFIG,
      PROGRAM,
      JSON.stringify(script),
    ];
    const child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped" }).spawn();
    try {
      const reader = child.stdout.getReader();
      const { value } = await reader.read();
      const { before, between, after } = JSON.parse(new TextDecoder().decode(value));
      const [ok, no] = ["ok", "PermissionDenied"];
      assertEquals(before, [ok, ok]);
      assertEquals(between, [ok, no, no, no]);
      assertEquals(after, [no, no, no, no, no]);
      const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
      assertEquals(await (await fetch(`http://127.0.0.1:${script.port}/`, { client })).text(), "open");
      client.close();
      using stalled = await Deno.connect({ hostname: "127.0.0.1", port: script.port });
      await stalled.write(new TextEncoder().encode("GET /endless HTTP/1.1\r\nhost: x\r\n\r\n"));
      assertEquals(new TextDecoder().decode((await reader.read()).value), "cut off\n");
      await reader.cancel();
    } finally {
      await child.stdin.close();
      await child.status;
      Deno.removeSync(folder, { recursive: true });
    }
  },
});
