import { type AnswerFile, type AnswerPlaces, openAnswer } from "./answer_file.ts";
import { type AnswerKeep, keepAnswer, keptName } from "./keep_answer.ts";

/** What a child left as its answer. */
export interface Answer {
  /** As it is handed over; absent when the child wrote no result file. */
  readonly text?: string;
  /** Links that stood in the places, and a file that could not be read. */
  readonly refused: readonly string[];
}

/** The longest answer that is handed over whole, bytes. */
export const MAX_OUTPUT_BYTES = 65_536;

const CUT_MARK = "\n[…]";
/** The longest character of UTF-8. */
const CHARACTER_BYTES = 4;

/**
 * The answer of a dead child, at most {@link MAX_OUTPUT_BYTES} of it: a longer one is cut between two
 * characters, marked, and kept whole in the parent's runtime directory, or the mark says why not.
 */
export async function readAnswer(places: AnswerPlaces, keep: AnswerKeep): Promise<Answer> {
  const { file, refused } = await openAnswer(places);
  if (file === undefined) return { refused };
  try {
    const head = await readHead(file);
    if (head.length <= MAX_OUTPUT_BYTES) return { text: decode(head), refused };
    const cut = cutLength(head);
    const why = await keepAnswer(file, keep);
    const whole = why === undefined
      ? `the whole answer is ${keptName(keep.delegationId)} in the runtime directory`
      : `not kept: ${why}`;
    const line = `[cut at ${cut} of ${Math.max(file.bytes, head.length)} bytes; ${whole}]`;
    return { text: `${decode(head.subarray(0, cut))}${CUT_MARK}\n${line}`, refused };
  } catch {
    return { refused: [...refused, file.path] };
  } finally {
    await file.handle.close();
  }
}

/** The answer in the body of an outcome. */
export function resultBlock({ text }: Pick<Answer, "text">): string {
  if (text === undefined) return "result: none (the child wrote no result file)";
  return text === "" ? "result: (the child's result file is empty)" : `result:\n${text}`;
}

async function readHead({ handle }: AnswerFile): Promise<Uint8Array> {
  const head = new Uint8Array(MAX_OUTPUT_BYTES + CHARACTER_BYTES);
  for (let length = 0;;) {
    const { bytesRead } = await handle.read(head, length, head.length - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length === head.length) return head.subarray(0, length);
  }
}

/** Where the last whole character within the bound ends; the bound itself in what is no UTF-8. */
function cutLength(head: Uint8Array): number {
  for (let at = MAX_OUTPUT_BYTES; at > MAX_OUTPUT_BYTES - CHARACTER_BYTES; at--) {
    if ((head[at]! & 0xc0) !== 0x80) return at;
  }
  return MAX_OUTPUT_BYTES;
}

/** Bytes that are not UTF-8 are replaced; a byte order mark is text like any other. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
