import { decodeAgent, decodeControl } from "../../../src/protocol/control/mod.ts";
import { encodeFrame, FrameDecoder } from "../../../src/protocol/mod.ts";
import { payloadFor } from "../../../src/supervisor/tree/tree_fixture.ts";
import { prepareCapsule } from "../../process/prepare_capsule.ts";
import { percentile } from "../timing.ts";
import { BenchTree } from "./bench_tree.ts";
import type { TreeSetup } from "./setup.ts";

/** How fast frames go; medians of bursts, each a second. */
export interface FramesResult {
  readonly trips: readonly TripResult[];
  /** Events of a child that floods, through the decoders and the machine of its supervisor. */
  readonly eventsPerSecond: number;
}

/** Questions and their answers. */
export interface TripResult {
  readonly name: string;
  /** Questions on their way at once; 0: there is no way, both ends are one program. */
  readonly atOnce: number;
  readonly perSecond: number;
  /** Whether frames are what limits it. */
  readonly isFrames: boolean;
}

/** Below what a session lets wait before it drops a pong. */
const AT_ONCE = [1, 32] as const;

/** Bursts of each kind in turn; one of each is not counted. */
export async function timeFrames(setup: TreeSetup): Promise<FramesResult> {
  const { rounds, programs } = setup;
  await using session = await openSession(setup);
  await using echo = new Pipe(new Deno.Command(programs.frameChild, { ...PIPED, args: ["echo"] }).spawn());
  await using bytes = new Pipe(new Deno.Command(programs.frameChild, { ...PIPED, args: ["bytes"] }).spawn());
  const kinds = [
    ...AT_ONCE.flatMap((atOnce) => [
      trip("a session of `dist/boll`", atOnce, true, () => session.ping(rounds.roundTrips, atOnce)),
      trip("a program that only answers", atOnce, true, () => echo.ping(rounds.roundTrips, atOnce)),
      trip("the pipe alone, bytes given back", atOnce, false, () => bytes.exchange(rounds.roundTrips, atOnce)),
    ]),
    trip("the codec alone, no pipe", 0, true, () => Promise.resolve(codeAlone(rounds.roundTrips))),
  ];
  const rates = kinds.map((): number[] => []);
  const events: number[] = [];
  for (let burst = -1; burst < rounds.bursts; burst++) {
    for (const [index, { run }] of kinds.entries()) {
      const startedAt = performance.now();
      await run();
      const perSecond = rounds.roundTrips * 1000 / (performance.now() - startedAt);
      if (burst >= 0) rates[index]!.push(perSecond);
    }
    const perSecond = await timeFlood(setup);
    if (burst >= 0) events.push(perSecond);
  }
  return {
    trips: kinds.map(({ name, atOnce, isFrames }, index) => ({
      ...{ name, atOnce, isFrames },
      perSecond: percentile(rates[index]!, 50),
    })),
    eventsPerSecond: percentile(events, 50),
  };
}

function trip(name: string, atOnce: number, isFrames: boolean, run: () => Promise<void>) {
  return { name, atOnce, isFrames, run };
}

const PIPED = { clearEnv: true, stdin: "piped", stdout: "piped", stderr: "null" } as const;

/** A child that answers on its stdout what it is asked on its stdin. Disposing ends it. */
class Pipe implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new FrameDecoder();
  #seq = 0;

  constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#writer = child.stdin.getWriter();
    this.#reader = child.stdout.getReader();
  }

  /** Asks and waits until it is answered that it is ready. */
  async open(frame: Uint8Array): Promise<this> {
    await this.#writer.write(frame);
    for (let isReady = false; !isReady;) {
      for (const message of this.#decoder.push(await this.#read())) isReady ||= message["type"] === "ready";
    }
    return this;
  }

  /** So many pings, so many of them unanswered at once. */
  async ping(count: number, atOnce: number): Promise<void> {
    const send = () => this.#writer.write(encodeFrame({ type: "ping", seq: ++this.#seq }));
    let [answered, sent] = [0, 0];
    for (; sent < Math.min(atOnce, count); sent++) send();
    while (answered < count) {
      for (const frame of this.#decoder.push(await this.#read())) {
        const message = decodeAgent(frame, this.#decoder.payloadOffset);
        if (message.type !== "pong") continue;
        answered++;
        if (sent++ < count) send();
      }
    }
  }

  /** The same with bytes that nobody looks at. */
  async exchange(count: number, atOnce: number): Promise<void> {
    const frame = encodeFrame({ type: "ping", seq: 1 });
    let [received, sent] = [0, 0];
    for (; sent < Math.min(atOnce, count); sent++) this.#writer.write(frame);
    while (received < count * frame.length) {
      received += (await this.#read()).length;
      for (; sent < Math.min(count, atOnce + Math.floor(received / frame.length)); sent++) this.#writer.write(frame);
    }
  }

  async #read(): Promise<Uint8Array> {
    const { value } = await this.#reader.read();
    if (value === undefined) throw new Error("Ask a child: it has ended");
    return value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#writer.abort().catch(() => {});
    await this.#reader.cancel().catch(() => {});
    await this.#child.status;
  }
}

/** A session whose guest waits: all that it does is answer. */
async function openSession({ programs, environment, guests }: TreeSetup): Promise<AsyncDisposable & Pipe> {
  const boll = {
    command: (args: readonly string[]) => [programs.boll, ...args],
    environment: () => ({ ...environment }),
  };
  const prepared = await prepareCapsule({ mode: "binary", ...boll }, guests.block, {
    limits: { deadline_ms: 3_600_000 },
  });
  const { program, args, env, payload } = prepared.launch;
  const child = new Deno.Command(program, { ...PIPED, args: [...args], env: { ...env } }).spawn();
  return await new Pipe(child).open(encodeFrame({ type: "spawn", ...payload }));
}

/** Both ends of a conversation in one program: what a round trip costs before there is a pipe. */
function codeAlone(count: number): void {
  const [down, up] = [new FrameDecoder(), new FrameDecoder()];
  for (let seq = 1; seq <= count; seq++) {
    for (const frame of down.push(encodeFrame({ type: "ping", seq }))) {
      const ping = decodeControl(frame, down.payloadOffset);
      if (ping.type !== "ping") throw new Error(`Code a ping: found ${ping.type}`);
      for (const answer of up.push(encodeFrame({ type: "pong", seq: ping.seq }))) decodeAgent(answer, up.payloadOffset);
    }
  }
}

/** Events a second of one child; every one of them is passed on or counted. */
async function timeFlood(setup: TreeSetup): Promise<number> {
  const { events } = setup.rounds;
  await using tree = new BenchTree(setup);
  const { child, readyMs, events: passedOn } = tree.start(() => ({
    program: setup.programs.frameChild,
    args: ["flood", `${events}`],
    env: {},
    payload: payloadFor(),
  }));
  await readyMs;
  const startedAt = performance.now();
  const ending = await child.ended;
  const elapsedMs = performance.now() - startedAt;
  const found = passedOn() + ending.dropped.events;
  if (ending.status !== "completed" || found !== events) {
    throw new Error(`Time a flood: found ${found} events and ${ending.status}, wanted ${events}: ${ending.detail}`);
  }
  return events * 1000 / elapsedMs;
}
