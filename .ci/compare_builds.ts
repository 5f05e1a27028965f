/**
 * Whether two builds are the same, and if not, where they part.
 * @module
 */
import { join } from "@std/path";

/** What `make build` leaves in `dist/`. */
const MADE = ["boll", "boll.cdx.json", "THIRD_PARTY_NOTICES.txt"] as const;

interface Bom {
  readonly components: readonly { readonly name: string; readonly hashes?: readonly { readonly content: string }[] }[];
}

/** One line for each difference between the `dist` folders of two builds; none when they are the same. */
export function compareBuilds(first: string, second: string): string[] {
  const lines = MADE.flatMap((name) => compareFiles(name, join(first, name), join(second, name)));
  return lines.length === 0 ? [] : [...lines, ...compareContents(readBom(first), readBom(second))];
}

function compareFiles(name: string, first: string, second: string): string[] {
  const [left, right] = [Deno.readFileSync(first), Deno.readFileSync(second)];
  const length = Math.max(left.length, right.length);
  let at = 0;
  while (at < length && left[at] === right[at]) at++;
  if (at === length) return [];
  return [`${name}: differs from byte ${at} of ${left.length} and ${right.length} on`];
}

/** The parts by name, as each bill of materials has them: what is embedded in one alone, or is not the same in both. */
function compareContents(first: Bom, second: Bom): string[] {
  const [left, right] = [hashes(first), hashes(second)];
  return [...new Set([...left.keys(), ...right.keys()])].sort().flatMap((name) => {
    const [one, other] = [left.get(name), right.get(name)];
    if (one === other) return [];
    if (one === undefined || other === undefined) {
      return [`  ${name}: embedded in the ${one === undefined ? "second" : "first"} build alone`];
    }
    return [`  ${name}: ${one} and ${other}`];
  });
}

function hashes({ components }: Bom): Map<string, string> {
  return new Map(components.map(({ name, hashes }) => [name, hashes?.[0]?.content ?? ""]));
}

function readBom(folder: string): Bom {
  return JSON.parse(Deno.readTextFileSync(join(folder, "boll.cdx.json")));
}
