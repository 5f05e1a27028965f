import { CapsuleError } from "../../base/mod.ts";
import type { TreeAction, TreeNode } from "../../protocol/tree/mod.ts";
import type { TreeControl } from "../../supervisor/tree_socket/mod.ts";
import type { SessionRecord } from "../run/session_record.ts";
import { type Pointing, TreePointers } from "./tree_pointers.ts";

/** What a run in the foreground can be asked to do. */
export interface RunTreeOptions {
  readonly record: Pick<SessionRecord, "places" | "identity">;
  /** Ends it. */
  stop(): void;
  /** Holds its guest, and lets it go on. Absent: it cannot be held. */
  readonly pause?: { hold(): unknown; release(): unknown };
}

const ROOT = "0";

/** A {@link RunTree} that may not be there yet. */
export interface LaterTree extends AsyncDisposable {
  open(): void;
  /** Opens it, if it was not; the component is there, and the cell starts. */
  started(): void;
  /** Opens it, if it was not, with the sessions that the run delegates to. */
  grow(below: TreeControl): void;
  /** A session below has its places: from now on its records say where the tree is asked. */
  add(places: Pointing): void;
  /** It has ended. */
  remove(places: Pointing): void;
}

/**
 * The control socket of a run, which is the root of its tree, and the pointers to it in the records of all that is in it.
 * A run goes on without one where none can be made. Its code is loaded only here, while the cell starts.
 */
export class RunTree implements AsyncDisposable {
  readonly #options: RunTreeOptions;
  readonly #startedMs = Date.now();
  #state: TreeNode["state"] = "starting";
  #isStarted = false;
  #below: TreeControl | undefined;
  readonly #pointers = new TreePointers();

  constructor(options: RunTreeOptions) {
    this.#options = options;
    this.#pointers.add(options.record.places);
    this.#pointers.open(this);
  }

  /** Makes one when it is first asked for it, if ever. */
  static later(options: RunTreeOptions): LaterTree {
    let tree: RunTree | undefined;
    const open = () => tree ??= new RunTree(options);
    return {
      open,
      started: () => open().started(),
      grow: (below) => open().#below = below,
      add: (places) => open().#pointers.add(places),
      remove: (places) => open().#pointers.remove(places),
      [Symbol.asyncDispose]: async () => await tree?.[Symbol.asyncDispose](),
    };
  }

  /** The run, and all that it delegated to. */
  list(): readonly TreeNode[] {
    return [this.#root(), ...this.#below?.list() ?? []];
  }

  #root(): TreeNode {
    const { places, identity } = this.#options.record;
    return {
      path: ROOT,
      session_id: places.id,
      capsule: identity.name.slice(0, 128),
      state: this.#state,
      verdict: this.#state === "running" || this.#state === "starting" ? "healthy" : this.#state,
      pid: Deno.pid,
      tokens_in: 0,
      tokens_out: 0,
      started_ms: this.#startedMs,
      progress_ms: this.#startedMs,
    };
  }

  /** @throws `tree.not_running`, `tree.refused` */
  act(action: TreeAction, path: string): void | Promise<void> {
    if (path !== ROOT) {
      if (this.#below !== undefined) return this.#below.act(action, path);
      throw new CapsuleError("tree.not_running", `Find ${path}: this tree has one session, ${ROOT}`);
    }
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
    return this.#below?.act(action, ROOT);
  }

  /** Its component is there, and its cell starts. */
  started(): void {
    this.#isStarted = true;
    if (this.#state === "starting") this.#state = "running";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pointers[Symbol.asyncDispose]();
  }
}
