import { printableLine } from "../../base/mod.ts";
import type { Notice } from "../../supervisor/tree/mod.ts";
import type { Paint } from "../text/paint.ts";

/** The line that a person reads of something that happens in a turn; nothing for what is not worth one. */
export function progressLine(notice: Notice, paint: Paint): string | undefined {
  if (notice.kind !== "event") return undefined;
  const { tool, i, of, is_error, ms } = notice.fields;
  const name = typeof tool === "string" ? printableLine(tool, 80) : "";
  if (notice.event === "turn.tool") {
    const place = typeof i === "number" && typeof of === "number" && of > 1 ? ` (${i + 1} of ${of})` : "";
    return paint.dim(`  → ${name}${place}`);
  }
  if (notice.event !== "turn.tool_end") return undefined;
  const took = typeof ms === "number" ? ` ${Math.round(ms)} ms` : "";
  return is_error === true ? paint.warn(`  ✗ ${name}${took}`) : paint.dim(`  ✓ ${name}${took}`);
}
