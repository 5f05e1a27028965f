import { type Capsule, findWorkspaces, loadCapsule, openTrust } from "../manifest/mod.ts";
import type { OperatorFlags } from "./flags.ts";
import { type ResolvedGrants, resolveGrants, type ResolveGrantsInput } from "./resolve.ts";

/** A folder with a home, a workspace, an own capsule and a foreign one; gone when the test ends. */
export class Project implements Disposable {
  readonly dir = Deno.realPathSync(Deno.makeTempDirSync());
  readonly home = `${this.dir}/home/.boll-home`;

  constructor(workspace: unknown = {}) {
    for (const path of ["project/capsules/own", "project/docs/deep", "foreign", "out", "bin", "home"]) this.mkdir(path);
    Deno.writeTextFileSync(`${this.dir}/project/boll.jsonc`, JSON.stringify(workspace));
    Deno.writeTextFileSync(`${this.dir}/bin/boll`, "");
    Deno.writeTextFileSync(`${this.dir}/bare.wasm`, "\0asm");
  }

  mkdir(path: string): string {
    Deno.mkdirSync(`${this.dir}/${path}`, { recursive: true });
    return `${this.dir}/${path}`;
  }

  /** Writes a capsule with these grants into `project/capsules/own` or `foreign`. */
  async capsule(where: "own" | "foreign", grants: unknown): Promise<Capsule> {
    const folder = where === "own" ? `${this.dir}/project/capsules/own` : `${this.dir}/foreign`;
    const manifest = { name: where, version: "1.0.0", component: "a.wasm", grants };
    Deno.writeTextFileSync(`${folder}/a.wasm`, "\0asm");
    Deno.writeTextFileSync(`${folder}/capsule.jsonc`, JSON.stringify(manifest, null, 1));
    return await loadCapsule(folder);
  }

  /** The bare component. */
  bare(): Promise<Capsule> {
    return loadCapsule(`${this.dir}/bare.wasm`);
  }

  /** Resolves as `boll run` does, with the project's workspace trusted. */
  async resolve(
    capsule: Capsule,
    flags: OperatorFlags = {},
    more: Partial<ResolveGrantsInput> = {},
  ): Promise<ResolvedGrants> {
    Deno.mkdirSync(this.home, { recursive: true });
    const trust = openTrust(this.home);
    for (const workspace of await findWorkspaces(`${this.dir}/project`)) trust.trustWorkspace(workspace);
    const workspaces = await findWorkspaces(capsule.root);
    return resolveGrants({
      capsule,
      own: trust.isOwn(capsule, workspaces),
      workspaces,
      trusted: trust.trustedWorkspaces(),
      flags,
      places: { home: this.home, executable: `${this.dir}/bin/boll`, runtime: `${this.dir}/run/boll` },
      readEnv: (name) => ({ LANG: "C", TZ: "UTC" })[name],
      ...more,
    });
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.dir, { recursive: true });
  }
}
