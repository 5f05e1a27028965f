import { CapsuleError } from "../base/mod.ts";
import type { TreeAction, TreeNode } from "../protocol/tree/mod.ts";
import { makeTemporaryFolder, removeControlPointer, writeControlPointer } from "../records/mod.ts";
import type { SessionRecord } from "./session_record.ts";

/** What a run in the foreground can be asked to do. */
export interface TreeOfOneOptions {
  readonly record: Pick<SessionRecord, "places" | "identity">;
  /** Ends it. */
  stop(): void;
  /** Holds its guest, and lets it go on. Absent: it cannot be held. */
  readonly pause?: { hold(): unknown; release(): unknown };
}

/** A {@link TreeOfOne} that may not be there yet. */
export interface LaterTree extends AsyncDisposable {
  open(): void;
  /** Opens it, if it was not; the component is there, and the cell starts. */
  started(): void;
}

/**
 * The control socket of a run that is a tree of one session, and the pointer to it in its records. A run goes on without
 * one where none can be made. Its code is loaded only here, while the cell starts.
 */
export class TreeOfOne implements AsyncDisposable {
  readonly #options: TreeOfOneOptions;
  readonly #startedMs = Date.now();
  #state: TreeNode["state"] = "starting";
  #isStarted = false;
  readonly #opening: Promise<AsyncDisposable | undefined>;

  constructor(options: TreeOfOneOptions) {
    this.#options = options;
    this.#opening = this.#open().catch(() => undefined);
  }

  /** Makes one when it is first asked for it, if ever. */
  static later(options: TreeOfOneOptions): LaterTree {
    let tree: TreeOfOne | undefined;
    const open = () => tree ??= new TreeOfOne(options);
    return {
      open,
      started: () => open().started(),
      [Symbol.asyncDispose]: async () => await tree?.[Symbol.asyncDispose](),
    };
  }

  /** Its only session. */
  list(): readonly TreeNode[] {
    const { places, identity } = this.#options.record;
    return [{
      path: "0",
      session_id: places.id,
      capsule: identity.name.slice(0, 128),
      state: this.#state,
      verdict: this.#state === "running" || this.#state === "starting" ? "healthy" : this.#state,
      pid: Deno.pid,
      tokens_in: 0,
      tokens_out: 0,
      started_ms: this.#startedMs,
      progress_ms: this.#startedMs,
    }];
  }

  /** @throws `tree.not_running`, `tree.refused` */
  act(action: TreeAction, path: string): void {
    if (path !== "0") throw new CapsuleError("tree.not_running", `Find ${path}: this tree has one session, 0`);
    const { stop, pause } = this.#options;
    if (action === "stop") {
      this.#state = "ending";
      return stop();
    }
    if (this.#state === "ending") throw new CapsuleError("tree.refused", `It is ending: it cannot ${action}`);
    if (pause === undefined) {
      throw new CapsuleError("tree.refused", "A service answers requests and cannot be held; stop it instead");
    }
    if (action === "pause") pause.hold();
    else pause.release();
    this.#state = action === "pause" ? "paused" : this.#isStarted ? "running" : "starting";
  }

  /** Its component is there, and its cell starts. */
  started(): void {
    this.#isStarted = true;
    if (this.#state === "starting") this.#state = "running";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#opening)?.[Symbol.asyncDispose]();
  }

  async #open(): Promise<AsyncDisposable> {
    const { TreeSocket } = await import("../supervisor/tree_socket/mod.ts");
    const { places } = this.#options.record;
    const folder = makeTemporaryFolder();
    try {
      const path = `${folder.path}/tree`;
      const socket = TreeSocket.open(path, this);
      writeControlPointer(places, path);
      return {
        async [Symbol.asyncDispose]() {
          removeControlPointer(places);
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
