import type { Denied } from "./run_cell.ts";

/** A denial, as the trace has it. */
export function deniedEvent({ grant, asked, allow }: Denied) {
  return { wall: "imports", grant, asked, allow: { flag: allow } } as const;
}
