/**
 * The licences of what is inside the executable: which are allowed, and their texts, which travel with it.
 * @module
 */
import { join } from "@std/path";
import type { EmbeddedPackage } from "./embedded_packages.ts";

/** SPDX expressions that let the work travel in an executable under boll's own licence, given that its text does too. */
export const ALLOWED_LICENCES: ReadonlySet<string> = new Set([
  ...["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"],
]);

/** Texts of works that do not ship their own, `NAME.txt`. */
const KEPT_TEXTS = join(import.meta.dirname!, "notices");

/** Something with a licence. */
export type Licensed = Pick<EmbeddedPackage, "name" | "version" | "licence" | "folder">;

/**
 * One text with the notice of every work.
 *
 * @throws Error for a licence that is not allowed, or a work whose text is nowhere.
 */
export function noticesText(works: readonly Licensed[]): string {
  const texts = new Map<string, string[]>();
  for (const work of works) {
    const text = licenceText(work, works);
    texts.set(text, [...texts.get(text) ?? [], `${work.name} ${work.version} (${checkLicence(work)})`]);
  }
  const notices = [...texts].map(([text, names]) => `${"=".repeat(80)}\n${names.join("\n")}\n\n${text}\n`);
  return `The boll executable contains the following works of others.\n\n${notices.join("\n")}`;
}

function checkLicence({ name, version, licence }: Licensed): string {
  if (ALLOWED_LICENCES.has(licence)) return licence;
  throw new Error(
    `Check the licence of ${name}@${version}: found ${licence}, wanted one of ${[...ALLOWED_LICENCES].join(", ")}`,
  );
}

/** The work's own text, else the one kept here, else that of a work of the same scope (one project's packages). */
function licenceText(work: Licensed, works: readonly Licensed[]): string {
  const kept = join(KEPT_TEXTS, `${work.name.replace("/", "_")}.txt`);
  const found = readOwn(work) ?? readIfThere(kept);
  if (found !== undefined) return found.trim();
  const sibling = works.find((other) =>
    other !== work && scope(other) !== undefined && scope(other) === scope(work) && other.licence === work.licence &&
    readOwn(other) !== undefined
  );
  if (sibling) return licenceText(sibling, works);
  throw new Error(`Find the licence text of ${work.name}@${work.version}: found none in the package, wanted ${kept}`);
}

function readOwn({ folder }: Licensed): string | undefined {
  if (folder === undefined) return undefined;
  const file = [...Deno.readDirSync(folder)].map(({ name }) => name).sort()
    .find((name) => /^(licen[cs]e|copying)(\.(md|txt))?$/i.test(name));
  return file && Deno.readTextFileSync(join(folder, file));
}

function scope({ name }: Licensed): string | undefined {
  return /^@[^/]+/.exec(name)?.[0];
}

function readIfThere(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
