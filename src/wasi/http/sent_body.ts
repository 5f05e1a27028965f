import type { Framing } from "./body_reader.ts";
import type { BodyContents } from "./outgoing_body.ts";

/** The contents of one request on the wire. */
export interface SentBody {
  /** Settles when it is known whether there are contents. */
  framing(): Promise<Exclude<Framing, { kind: "until_end" }>>;
  /** The next contents, or undefined at the end. @throws WireFailure when the guest broke them off */
  take(): Promise<Uint8Array | undefined>;
  /** The wire takes no more of it. */
  stop(failure: unknown): void;
}

/** What is kept of contents, in case that a redirect asks for them once more, bytes. */
const KEPT_BYTES = 65_536;

/** Contents as the guest writes them; short ones are kept. */
export class FirstBody implements SentBody {
  readonly #contents: BodyContents | undefined;
  #kept: Uint8Array[] | undefined = [];
  #keptBytes = 0;
  #isWhole: boolean;

  constructor(contents: BodyContents | undefined) {
    this.#contents = contents;
    this.#isWhole = contents === undefined;
  }

  async framing(): ReturnType<SentBody["framing"]> {
    const contents = this.#contents;
    if (contents === undefined) return { kind: "none" };
    await contents.decided();
    if (contents.declared !== undefined) return { kind: "length", bytes: Number(contents.declared) };
    this.#isWhole = contents.isEmpty;
    return contents.isEmpty ? { kind: "none" } : { kind: "chunked" };
  }

  async take(): Promise<Uint8Array | undefined> {
    const piece = await this.#contents?.take();
    if (piece === undefined) this.#isWhole = true;
    else this.#keep(piece);
    return piece;
  }

  stop(failure: unknown): void {
    this.#contents?.stop(failure);
  }

  /** The same contents once more; undefined when they were too long to keep, or are not whole. */
  again(): SentBody | undefined {
    if (!this.#isWhole || this.#kept === undefined) return undefined;
    return keptBody(this.#kept, this.#keptBytes);
  }

  #keep(piece: Uint8Array): void {
    this.#keptBytes += piece.length;
    if (this.#keptBytes > KEPT_BYTES) this.#kept = undefined;
    this.#kept?.push(piece);
  }
}

/** No contents at all. */
export const NO_BODY: SentBody = {
  framing: () => Promise.resolve({ kind: "none" }),
  take: () => Promise.resolve(undefined),
  stop: () => {},
};

function keptBody(pieces: readonly Uint8Array[], bytes: number): SentBody {
  const left = [...pieces];
  return {
    framing: () => Promise.resolve(bytes === 0 ? { kind: "none" } : { kind: "length", bytes }),
    take: () => Promise.resolve(left.shift()),
    stop: () => {},
  };
}
