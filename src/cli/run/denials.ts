import { printableLine } from "../../base/mod.ts";
import type { Capsule } from "../../manifest/mod.ts";
import type { TraceWriter } from "../../records/mod.ts";
import type { Denied } from "../../session/mod.ts";
import type { Context } from "../verb.ts";

/** Most denials that are printed at the end of a run; the trace has them all. */
const MAX_HINTS = 5;

/** What a run was denied: each goes to the trace at once, and is said with what would allow it when the run is over. */
export class Denials {
  readonly #capsule: Capsule;
  readonly #trace: TraceWriter;
  readonly #denied = new Map<string, Denied>();

  constructor(capsule: Capsule, trace: TraceWriter) {
    this.#capsule = capsule;
    this.#trace = trace;
  }

  /** Keeps one denial for {@link print}, which is in the trace already. */
  note(denied: Denied): void {
    this.#denied.set(denied.asked, denied);
  }

  /** Records one denial. */
  add(denied: Denied): void {
    this.note(denied);
    const manifest = manifestPlace(this.#capsule, denied);
    this.#trace.append("denied", {
      wall: "imports",
      grant: denied.grant,
      asked: denied.asked,
      allow: { flag: denied.allow, ...(manifest === undefined ? {} : { manifest }) },
    });
  }

  /** Prints what would allow it next time: the flag, and the place in the manifest. */
  print(context: Context): void {
    const hints = [...this.#denied.values()];
    for (const denied of hints.slice(0, MAX_HINTS)) {
      const place = manifestPlace(this.#capsule, denied);
      const manifest = place === undefined ? "" : `, or change it in ${place}`;
      context.stderr.write(
        `boll: denied: ${printableLine(quoted(denied.asked))}; add ${printableLine(denied.allow)}${
          printableLine(manifest)
        }\n`,
      );
    }
    if (hints.length > MAX_HINTS) {
      context.stderr.write(`boll: denied: ${hints.length - MAX_HINTS} more, see \`boll trace show last\`\n`);
    }
  }
}

/** A guest's own text never looks like boll's advice behind it. */
function quoted(asked: string): string {
  return /[;"]/.test(asked) ? JSON.stringify(asked) : asked;
}

/** `FILE:LINE (grants.fs.mounts[0])`: where the manifest decides; nothing for a bare component. */
function manifestPlace({ manifest, manifestPath }: Capsule, denied: Denied): string | undefined {
  if (manifest === undefined) return undefined;
  const mounts = manifest.grants.fs?.mounts ?? [];
  const index = denied.grant === "fs" ? mounts.findIndex(({ guest }) => mentions(denied.asked, guest)) : -1;
  const path = index >= 0 ? `grants.fs.mounts[${index}]` : `grants.${denied.grant}`;
  return `${manifestPath}:${manifest.positions.lineOf(path)} (${path})`;
}

function mentions(asked: string, guest: string): boolean {
  return asked.split(" ").some((word) => word === guest || word.startsWith(`${guest}/`));
}
