import { join } from "@std/path";
import type { Peers } from "./peers.ts";
import type { Programs } from "./programs.ts";
import type { Service } from "./service_process.ts";
import { TARGETS } from "./target.ts";
import { buildSmallestService } from "./smallest_service.ts";

/** Services that answer with one text, first `Deno.serve` alone, which the others are compared with. */
export async function servicesOf(root: string, scratch: string, programs: Programs, peers: Peers): Promise<Service[]> {
  const hello = join(root, "capsules", "hello-http", "hello_http.wasm");
  const smallest = join(scratch, "smallest_service.wasm");
  Deno.writeFileSync(smallest, await buildSmallestService(root));
  const env = { BOLL_HOME: join(scratch, "served") };
  const boll = (name: string, component: string): Service => ({
    name: `boll serve-http, ${name}`,
    program: programs.boll,
    args: (port) => ["serve-http", component, "--quiet", "--accept", "--containment", "scoped", "--listen", `${port}`],
    env,
    warmTarget: TARGETS.liveCall,
  });
  const services = [
    { name: "Deno.serve alone", program: programs.plainServer, args: (port: number) => [`${port}`] },
    boll("hello-http", hello),
    boll("smallest", smallest),
  ];
  if (peers.kind === "absent") return services;
  const jco = (name: string, component: string, flags: readonly string[]): Service => ({
    name,
    program: peers.node,
    args: (port) => [peers.jco, "serve", component, "--host", "127.0.0.1", "--port", `${port}`, ...flags],
  });
  const fresh = ["--isolate-requests", "instance"];
  return [
    ...services,
    jco("jco serve, instance per request, hello-http", hello, fresh),
    jco("jco serve, instance per request, smallest", smallest, fresh),
    jco("jco serve, one instance for all, hello-http", hello, []),
    jco("jco serve, one instance for all, smallest", smallest, []),
  ];
}
