import { assert, assertEquals } from "@std/assert";
import { join, toFileUrl } from "@std/path";
import { ROLES } from "./rooms.ts";

const ROOT = join(import.meta.dirname!, "..");

interface ModuleInfo {
  readonly specifier: string;
  readonly dependencies?: readonly Dependency[];
}
interface Dependency {
  readonly isDynamic?: boolean;
  readonly code?: { readonly specifier?: string };
}

/** File of the source → files whose code it loads at once, of all that a role entry reaches; types are not code. */
async function readGraph(): Promise<Map<string, string[]>> {
  const graph = new Map<string, string[]>();
  for (const entry of Object.keys(ROLES)) {
    const command = new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", entry],
      cwd: ROOT,
      stderr: "inherit",
    });
    const { modules } = JSON.parse(new TextDecoder().decode((await command.output()).stdout));
    for (const { specifier, dependencies = [] } of modules as ModuleInfo[]) {
      const targets = dependencies.filter(({ isDynamic }) => !isDynamic).map(({ code }) => code?.specifier ?? "");
      graph.set(specifier, targets.filter((target) => target.startsWith(toFileUrl(ROOT).href)));
    }
  }
  return graph;
}

/** The first cycle found, as the list of its files; empty when there is none. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>();
  const visit = (file: string, path: string[]): string[] => {
    if (path.includes(file)) return path.slice(path.indexOf(file));
    if (done.has(file)) return [];
    for (const target of graph.get(file) ?? []) {
      const cycle = visit(target, [...path, file]);
      if (cycle.length > 0) return cycle;
    }
    done.add(file);
    return [];
  };
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

Deno.test("findCycle finds a cycle through several files, and none in a diamond", () => {
  const graph = (edges: Record<string, string[]>) => new Map(Object.entries(edges));
  assertEquals(findCycle(graph({ a: ["b", "c"], b: ["d"], c: ["d"], d: [] })), []);
  assertEquals(findCycle(graph({ a: ["b"], b: ["c"], c: ["b"] })), ["b", "c"]);
  assertEquals(findCycle(graph({ a: ["a"] })), ["a"]);
});

Deno.test("no file of the source imports itself through others", async () => {
  const graph = await readGraph();
  assert(graph.has(toFileUrl(join(ROOT, "src", "base", "mod.ts")).href));
  assertEquals(findCycle(graph).map((file) => file.slice(toFileUrl(ROOT).href.length + 1)), []);
});
