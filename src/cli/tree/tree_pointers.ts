import {
  makeTemporaryFolder,
  removeControlPointer,
  type SessionPaths,
  writeControlPointer,
} from "../../records/mod.ts";
import type { TreeControl } from "../../supervisor/tree_socket/mod.ts";

/** The part of a session's places that says where its tree is asked. */
export type Pointing = Pick<SessionPaths, "control">;

/** The control socket of a tree, and the pointers to it in the records of all that is in it. */
export class TreePointers implements AsyncDisposable {
  readonly #pointing = new Set<Pointing>();
  #socketPath: string | undefined;
  #opening: Promise<AsyncDisposable | undefined> | undefined;

  /** Opens the socket; a tree goes on without one where none can be made. */
  open(control: TreeControl): void {
    this.#opening ??= this.#open(control).catch(() => undefined);
  }

  /** A session has its places: from now on its records say where the tree is asked. */
  add(places: Pointing): void {
    this.#pointing.add(places);
    if (this.#socketPath !== undefined) writeControlPointer(places, this.#socketPath);
  }

  /** It has ended. */
  remove(places: Pointing): void {
    if (this.#pointing.delete(places)) removeControlPointer(places);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#opening)?.[Symbol.asyncDispose]();
  }

  async #open(control: TreeControl): Promise<AsyncDisposable> {
    const { TreeSocket } = await import("../../supervisor/tree_socket/mod.ts");
    const folder = makeTemporaryFolder();
    try {
      const path = `${folder.path}/tree`;
      const socket = TreeSocket.open(path, control);
      this.#socketPath = path;
      for (const places of this.#pointing) writeControlPointer(places, path);
      return {
        [Symbol.asyncDispose]: async () => {
          this.#socketPath = undefined;
          for (const places of this.#pointing) removeControlPointer(places);
          await socket[Symbol.asyncDispose]();
          folder.remove();
        },
      };
    } catch (error) {
      folder.remove();
      throw error;
    }
  }
}
