/**
 * What the SDK leaves out of a stream (Server-Sent Events): the id of each event, in the order in which they are told, and
 * whether its last word was that its reader was too slow.
 */
export class EventIds {
  readonly #ids: (string | undefined)[] = [];
  #isError = false;

  /** Whether the stream said that it goes no further. */
  get isError(): boolean {
    return this.#isError;
  }

  /** The id of the next event that is told; undefined when it has none. */
  take(): string | undefined {
    return this.#ids.shift();
  }

  /** The same bytes, looked at as they pass. */
  watch(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const decoder = new TextDecoder();
    let [line, isCut] = ["", false];
    let [id, hasData] = [undefined as string | undefined, false];
    const end = () => {
      const text = line.endsWith("\r") ? line.slice(0, -1) : line;
      const isWhole = !isCut;
      [line, isCut] = ["", false];
      if (text === "" && isWhole) {
        if (hasData) this.#ids.push(id);
        [id, hasData] = [undefined, false];
      } else if (text.startsWith("data:")) hasData = true;
      else if (text.startsWith("id:") && isWhole) id = text.slice(3).trimStart();
      else if (/^event: ?error$/.test(text)) this.#isError = true;
    };
    const take = (chunk: Uint8Array) => {
      let from = 0;
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
        add(chunk.subarray(from, at));
        end();
        from = at + 1;
      }
      add(chunk.subarray(from));
    };
    /** Of a line of data its start is enough. */
    const add = (bytes: Uint8Array) => {
      const room = MAX_LINE - line.length;
      if (bytes.length > room) isCut = true;
      line += decoder.decode(bytes.subarray(0, Math.max(0, room)));
    };
    return body.pipeThrough(
      new TransformStream({
        transform(chunk: Uint8Array, controller) {
          take(chunk);
          controller.enqueue(chunk);
        },
      }),
    );
  }
}

const LINE_FEED = 10;
const MAX_LINE = 256;
