/** What stands in a usage that was not there: its count is 0, and is nobody's word. */
export const FILLED = "boll_filled";

const WANTED = { message_start: "input_tokens", message_delta: "output_tokens" } as const;

/** A line that may be one of the two events with a usage. */
const LINE = /^data:.*"message_(?:start|delta)"/;

/**
 * Anthropic's events with a usage in each that should have one: the library refuses an answer whose server counts
 * nothing. Every other line goes through as it is.
 */
export function fillUsage(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  // Pieces, not one text: a line that never ends would be copied anew with each of its bytes.
  let open: string[] = [];
  return new TransformStream({
    transform(bytes, controller) {
      const text = decoder.decode(bytes, { stream: true });
      const end = text.lastIndexOf("\n") + 1;
      if (end === 0) {
        open.push(text);
        return;
      }
      const lines = [...open, text.slice(0, end)].join("");
      open = [text.slice(end)];
      controller.enqueue(encoder.encode(lines.split("\n").map(fillLine).join("\n")));
    },
    flush(controller) {
      controller.enqueue(encoder.encode(fillLine([...open, decoder.decode()].join(""))));
    },
  });
}

function fillLine(line: string): string {
  if (!LINE.test(line)) return line;
  try {
    const event = JSON.parse(line.slice("data:".length));
    const wanted = Object.hasOwn(WANTED, event?.type) ? WANTED[event.type as keyof typeof WANTED] : undefined;
    const owner = event.type === "message_start" ? event.message : event;
    if (wanted === undefined || typeof owner !== "object" || typeof owner?.usage?.[wanted] === "number") return line;
    owner.usage = { ...owner.usage, [wanted]: 0, [FILLED]: true };
    return `data: ${JSON.stringify(event)}`;
  } catch {
    return line;
  }
}
