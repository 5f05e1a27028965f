import { join } from "@std/path";
import { fixture } from "../fixtures/build.ts";
import type { Candidate } from "./timing.ts";

/** Capsules of a workspace: the guest of each, its arguments, and what it may delegate to. */
const CAPSULES = {
  plain: { guest: "hello_stdio", args: [], spawn: [] },
  able: { guest: "hello_stdio", args: [], spawn: ["plain"] },
  asking: { guest: "pass_on", args: ["plain"], spawn: ["plain"] },
} as const;

/**
 * The smallest guest with a manifest, the same when it may delegate and does not, and one that delegates to it and waits:
 * what a grant costs that is not used, and one that is. The workspace is made in `scratch`.
 */
export async function delegatingCandidates(
  scratch: string,
  { program, env }: Pick<Candidate, "program"> & { readonly env: Readonly<Record<string, string>> },
): Promise<Candidate[]> {
  const root = join(scratch, "workspace");
  for (const [name, { guest, args, spawn }] of Object.entries(CAPSULES)) {
    const folder = join(root, name);
    Deno.mkdirSync(folder, { recursive: true });
    Deno.copyFileSync(await fixture(guest), join(folder, "guest.wasm"));
    const manifest = { name, version: "0.1.0", component: "guest.wasm", args, grants: { spawn } };
    Deno.writeTextFileSync(join(folder, "capsule.jsonc"), JSON.stringify(manifest));
  }
  Deno.writeTextFileSync(join(root, "boll.jsonc"), `{ "capsules": ["*"] }`);
  const lock = await new Deno.Command(program, { args: ["lock", root], env }).output();
  if (!lock.success) throw new Error(`Lock the workspace: ${new TextDecoder().decode(lock.stderr)}`);
  const run = (name: string) => ["run", "--quiet", "--accept", "--containment", "scoped", join(root, name)];
  return [
    { name: "smallest guest, a manifest", program, args: run("plain"), env },
    { name: "smallest guest, may delegate", program, args: run("able"), env },
    { name: "a guest that delegates to it and waits", program, args: run("asking"), env },
  ];
}
