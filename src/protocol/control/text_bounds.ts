import { MAX_FRAME_BYTES } from "../frame.ts";

/** Bounds of text fields, characters. */
export const NAME = { max: 256 } as const;
export const LINE = { max: 8_192 } as const;
export const TEXT = { max: MAX_FRAME_BYTES } as const;
/** A key of an effect: a prefix, which is a {@link LINE}, and what tells it from the others. */
export const KEY = { max: LINE.max + 64 } as const;
