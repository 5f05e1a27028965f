import { assert, assertEquals } from "@std/assert";
import { NO_GRANTS } from "../../grants/mod.ts";
import { supervisorRules } from "./supervisor_hull.ts";

const PLACES = { cache: "/cache/k", session: "/sessions/s", tmp: "/run/boll/t", work: "/sessions/s/work" };

Deno.test("supervisorRules: without a gate no port and no name files; with one exactly its ports, and the cell's", () => {
  const shut = supervisorRules(NO_GRANTS, PLACES, false);
  assertEquals([shut.tcpConnect, shut.tcpBind, shut.udp], [[], [], false]);
  assert(!shut.read.some((path) => path.startsWith("/etc/")));
  const grants = { ...NO_GRANTS, net: ["https://a.example", "listen:8080", "tcp://b.example:6379"] };
  const open = supervisorRules(grants, { ...PLACES, network: { gatePort: 40_000 } }, false);
  assertEquals([open.tcpConnect, open.tcpBind], [[40_000, 53, 443, 6379], [8080]]);
  const network = { gatePort: 40_000, proxy: { port: 3128 } };
  assertEquals(supervisorRules(grants, { ...PLACES, network }, false).tcpConnect, [40_000, 53, 3128]);
  // Landlock takes real paths only, and refuses one that is not there.
  for (const path of open.read.filter((one) => one.startsWith("/etc/") || one.startsWith("/run/systemd"))) {
    assertEquals(Deno.realPathSync(path), path);
  }
  assert(open.read.includes(Deno.realPathSync("/etc/hosts")));
});

Deno.test("supervisorRules: for sessions below it holds their places, and leaves TCP to them only where there is a network", () => {
  const ceiling = { read: ["/proc"], write: [Deno.realPathSync("/tmp")] };
  const alone = supervisorRules(NO_GRANTS, PLACES, false);
  const shut = supervisorRules(NO_GRANTS, { ...PLACES, ceiling }, false);
  assertEquals([alone.read.includes("/proc"), shut.read.includes("/proc"), shut.anyTcp], [false, true, undefined]);
  assertEquals([alone.write.includes(ceiling.write[0]!), shut.write.includes(ceiling.write[0]!)], [false, true]);
  const network = { gatePort: 40_000 };
  assertEquals(supervisorRules(NO_GRANTS, { ...PLACES, ceiling, network }, false).anyTcp, true);
  assertEquals(supervisorRules(NO_GRANTS, { ...PLACES, network }, false).anyTcp, undefined);
});
