import { readTaste } from "../read_variable.ts";
import type { Context, TextSink } from "../verb.ts";

/** Marks text for a terminal, or gives it back as it is. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
}

const PLAIN: Paint = {
  bold: (text) => text,
  dim: (text) => text,
  good: (text) => text,
  bad: (text) => text,
  warn: (text) => text,
};

const COLOURED: Paint = {
  bold: (text) => `\x1b[1m${text}\x1b[22m`,
  dim: (text) => `\x1b[2m${text}\x1b[22m`,
  good: (text) => `\x1b[32m${text}\x1b[39m`,
  bad: (text) => `\x1b[31m${text}\x1b[39m`,
  warn: (text) => `\x1b[33m${text}\x1b[39m`,
};

/** Colours for a sink: only on a terminal that can, and not when `NO_COLOR` is set to anything. */
export function paintFor(sink: TextSink, context: Pick<Context, "readVariable">): Paint {
  const unwanted = Boolean(readTaste(context, "NO_COLOR")) || readTaste(context, "TERM") === "dumb";
  return sink.isTerminal && !unwanted ? COLOURED : PLAIN;
}
