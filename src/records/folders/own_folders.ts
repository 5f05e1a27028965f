import { dirname } from "@std/path";

/**
 * Refuses a record's place when a session put a link where its folders were: what is written or removed there would be
 * another's. @throws Error
 */
export function requireOwnFolders(record: string): void {
  for (const folder of [dirname(dirname(record)), dirname(record)]) {
    if (!Deno.lstatSync(folder).isDirectory) throw new Error("its folder was replaced");
  }
}
