import { CapsuleError, exitCodeOf, printableJson, printableLine } from "../../base/mod.ts";
import { type DoorSpec, SESSION_CEILINGS } from "../../protocol/control/mod.ts";
import type { TreeAction } from "../../protocol/tree/mod.ts";
import { DoorFolder, hashToken, ownService, type SessionPlaces } from "../../records/mod.ts";
import { freePort } from "../../session/mod.ts";
import type { ChildEnding, Notice, SessionChild } from "../../supervisor/tree/mod.ts";
import { recordedDetail } from "../agent/agent_ending.ts";
import { onAbort } from "../tree/delegating_run.ts";
import { PeerShare } from "./peer_share.ts";
import type { Starting } from "../tree/root_capsule.ts";
import { RootTree, warn } from "../tree/root_tree.ts";
import type { ServeFlags } from "./serve.ts";

/** A capsule that its operator agreed to serve, and how. */
export interface Serving extends Starting {
  readonly flags: ServeFlags;
}

/** How serving ended, for whoever started it. */
export interface ServedEnding {
  readonly session_id: string;
  readonly status: string;
  readonly exit_code: number;
  readonly ended_by: string;
  readonly detail?: string;
}

/** What of an ending counts here. */
type Judged = Pick<ChildEnding, "session_id" | "status" | "ended_by" | "detail"> & Partial<Pick<ChildEnding, "exit">>;

/** It was told to end while its session was about to be started again. */
const BETWEEN_SESSIONS: Judged = { session_id: "", status: "completed", ended_by: "terminated" };

/** How long everything below may take to end after the first signal, ms. */
const DRAIN_MS = 28_000;

/** Tasks that may wait when nobody says. */
const DEFAULT_QUEUE = 256;

/**
 * One served capsule: this process is the supervisor of a tree whose root is a warm session with a door. It listens on
 * nothing but its control socket, and runs no guest.
 */
export class ServedCapsule {
  readonly #serving: Serving;
  readonly #service: DoorFolder | undefined;
  readonly #port: number;
  #tree: RootTree | undefined;
  #child: SessionChild | undefined;
  #share: PeerShare | undefined;
  #door: DoorFolder | undefined;
  #isDraining = false;
  #openings = 0;
  readonly #ended = Promise.withResolvers<Judged>();

  private constructor(serving: Serving, service: DoorFolder | undefined) {
    this.#serving = serving;
    this.#service = service;
    this.#port = choosePort(serving.flags, service);
  }

  /**
   * Serves until it is interrupted, stopped, or its session has ended for good.
   * @throws `component.*`, `lock.*`, `hull.*`, `service.running`, `service.listen_failed`, `home.unwritable`
   */
  static async run(serving: Serving): Promise<ServedEnding> {
    const { resolved, flags } = serving;
    using service = flags.name === undefined ? undefined : ownService(resolved.home, flags.name);
    return await new ServedCapsule(serving, service?.folder).#run();
  }

  async #run(): Promise<ServedEnding> {
    const { interrupts } = this.#serving;
    await using tree = await RootTree.open({
      starting: this.#serving,
      warm: true,
      // Without a name its tasks end with it: a new session would know nothing of them.
      restarts: this.#service !== undefined && this.#accept === "queue",
      door: {
        port: this.#port,
        write: this.#service === undefined ? [] : [this.#service.path],
        specify: (places) => this.#specify(places),
      },
      onNotice: (notice) => this.#hear(notice),
      onRestarted: (child) => this.#watch(child),
      act: (action, path) => this.#act(action, path),
    });
    this.#tree = tree;
    const { intelligence, limits } = tree.capsule;
    const { max_tokens } = intelligence === undefined ? SESSION_CEILINGS : limits;
    this.#share = new PeerShare(tree.supervisor.budget, max_tokens);
    try {
      this.#watch(tree.start());
      onAbort(interrupts.first, () => this.#drain());
      onAbort(interrupts.second, () => tree.supervisor.killNow());
      return this.#judge(await this.#ended.promise);
    } finally {
      this.#door?.writeOpen(undefined);
    }
  }

  /** Whoever says how many may wait wants more than one. */
  get #accept(): DoorSpec["accept"] {
    const { flags, resolved: { capsule } } = this.#serving;
    return capsule.manifest?.lifecycle?.accept === "single" && flags.queueDepth === undefined ? "single" : "queue";
  }

  /** The door of a session that has its places; the token is the owner's to read, and no part of it. */
  #specify(places: SessionPlaces): DoorSpec {
    const { flags: { hostname, open, names, queueDepth }, resolved } = this.#serving;
    const { queue_depth, input_timeout_ms, idempotent = false } = resolved.capsule.manifest?.lifecycle ?? {};
    const folder = this.#service ?? new DoorFolder(`${places.records}/door`);
    folder.make();
    this.#door = folder;
    return {
      hostname,
      port: this.#port,
      open,
      names,
      accept: this.#accept,
      queue_depth: queueDepth ?? queue_depth ?? DEFAULT_QUEUE,
      idempotent,
      ...(input_timeout_ms === undefined ? {} : { input_timeout_ms }),
      token_hash: hashToken(folder.ownToken()),
      peers: folder.peers(),
      ...(this.#service === undefined ? {} : { service: { folder: folder.path } }),
    };
  }

  #watch(child: SessionChild): void {
    this.#child = child;
    child.ended.then((ending) => {
      this.#share?.end();
      this.#door?.writeOpen(undefined);
      if (this.#service === undefined) this.#door?.forgetToken();
      if (ending.restart?.kind === "restart" && !this.#isDraining) {
        const why = ending.detail === undefined ? "" : ` (${printableLine(ending.detail, 300)})`;
        return warn(
          this.#serving,
          `the session ${ending.session_id} ended as ${ending.status}${why}; it is started again`,
        );
      }
      this.#ended.resolve(ending);
    });
  }

  #hear(notice: Notice): void {
    if (notice.kind === "turn") this.#share?.end();
    if (notice.kind !== "event") return;
    const { url, peer } = notice.fields;
    if (notice.event === "turn.start") this.#share?.begin(peer === true);
    if (notice.event === "tokens.spent") {
      warn(
        this.#serving,
        "its tokens are spent (max_session_tokens): it answers nothing more until it is started again",
      );
    }
    if (notice.event === "door.open" && typeof url === "string") this.#announce(url);
  }

  #announce(url: string): void {
    const { args, context, flags, resolved } = this.#serving;
    const session_id = this.#tree?.places?.id ?? "";
    const port = Number(new URL(url).port);
    this.#door?.writeOpen({ url, session_id });
    if (this.#service !== undefined) this.#door?.writePort(port);
    const name = flags.name === undefined ? {} : { name: flags.name };
    if (args.has("json")) {
      const token = flags.open ? {} : { token: this.#door?.readToken() };
      context.stdout.write(`${printableJson({ serving: url, session_id, pid: Deno.pid, ...name, ...token })}\n`);
    } else if (this.#openings === 0 || !args.has("quiet")) {
      const who = flags.name === undefined ? printableLine(resolved.capsule.name, 80) : flags.name;
      context.stderr.write(`boll: serving ${who} at ${printableLine(url, 200)} (${session_id})\n`);
      if (this.#openings === 0 && !flags.open && !args.has("quiet")) {
        context.stderr.write(`boll: its token: \`boll token ${flags.name ?? session_id}\`\n`);
      }
    }
    this.#openings++;
  }

  /** As signals do: the first stop asks for a drain, the second for an end at once. */
  #act(action: TreeAction, path: string): boolean {
    if (action !== "stop" || path !== this.#child?.path) return false;
    if (this.#isDraining) this.#tree?.supervisor.killNow();
    else this.#drain();
    return true;
  }

  #drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    const { supervisor } = this.#tree!;
    const child = this.#child;
    if (child === undefined || child.isOver) {
      // It waits for its restart, which is called off.
      supervisor.stop(child?.path ?? "0").then(() => this.#ended.resolve(BETWEEN_SESSIONS));
      return;
    }
    child.close();
    const late = setTimeout(() => supervisor.killNow(), DRAIN_MS);
    this.#ended.promise.then(() => clearTimeout(late));
  }

  #judge({ session_id, status, ended_by, exit, ...ending }: Judged): ServedEnding {
    const detail = ending.detail ?? (status === "completed" ? undefined : recordedDetail(this.#tree?.places));
    // The one task's program has a word of its own.
    const own = this.#accept === "single" && ended_by === "guest" ? exit?.code : undefined;
    return {
      session_id,
      status,
      exit_code: own ?? exitCodeOf(status, ended_by),
      ended_by,
      ...(detail === undefined ? {} : { detail }),
    };
  }
}

/** The port that was asked for; a service keeps its own while nobody else has it, so that its address stays. */
function choosePort({ port, hostname }: ServeFlags, service: DoorFolder | undefined): number {
  if (port !== undefined) return port;
  const last = service?.readPort();
  const found = (last === undefined ? undefined : freePort(hostname, last)) ?? freePort(hostname);
  if (found !== undefined) return found;
  throw new CapsuleError("service.listen_failed", `Listen on ${hostname}: no port can be had there; see --bind`);
}
