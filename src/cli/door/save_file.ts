import { join } from "@std/path";
import { CapsuleError } from "../../base/mod.ts";

/** A file that came from elsewhere. */
interface ForeignFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Saves a foreign file below a folder of the operator's, and gives its path. Its name says no more than what is left of
 * it as plain parts; nothing that is there is written over.
 * @throws `usage.bad_value` when something of that name is there, or it cannot be written
 */
export function saveFile(folder: string, { name, bytes }: ForeignFile): string {
  const parts = name.split(/[/\\]+/).map(plainPart).filter((part) => part !== "").slice(-8);
  const path = join(folder, ...(parts.length === 0 ? ["file"] : parts));
  try {
    Deno.mkdirSync(join(path, ".."), { recursive: true });
    Deno.writeFileSync(path, bytes, { createNew: true });
    return path;
  } catch (error) {
    const why = error instanceof Deno.errors.AlreadyExists
      ? "it exists; name another folder"
      : (error as Error).message;
    throw new CapsuleError("usage.bad_value", `Save ${path}: ${why}`, { cause: error });
  }
}

function plainPart(part: string): string {
  return part.replace(/[^\p{L}\p{N} ._-]/gu, "_").replace(/^\.+/, "").slice(0, 200);
}
