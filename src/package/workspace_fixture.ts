import { readWorkspace, type Workspace } from "../manifest/mod.ts";

/** A workspace on disk for tests; gone when the test ends. */
export class WorkspaceFolder implements Disposable {
  readonly #top = Deno.realPathSync(Deno.makeTempDirSync());
  readonly dir = `${this.#top}/workspace`;

  constructor(capsules: readonly string[] = ["capsules/*"]) {
    Deno.mkdirSync(this.dir);
    Deno.writeTextFileSync(`${this.dir}/boll.jsonc`, JSON.stringify({ capsules }));
  }

  /** Writes a capsule into a folder below the workspace and gives that folder. */
  capsule(path: string, fields: { name: string; version?: string; spawn?: readonly string[] }): string {
    const folder = `${this.dir}/${path}`;
    Deno.mkdirSync(folder, { recursive: true });
    const { name, version = "1.0.0", spawn = [] } = fields;
    const manifest = { name, version, component: "a.wasm", grants: { spawn } };
    Deno.writeTextFileSync(`${folder}/capsule.jsonc`, JSON.stringify(manifest, null, 1));
    Deno.writeTextFileSync(`${folder}/a.wasm`, `\0asm${name}`);
    return folder;
  }

  read(): Promise<Workspace> {
    return readWorkspace(`${this.dir}/boll.jsonc`);
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#top, { recursive: true });
  }
}
