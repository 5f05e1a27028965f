/** What keeps a path from being a folder that only this user can use. */
export type FolderFault =
  | "missing"
  | "a link"
  | "not a folder"
  | "owned by someone else"
  | "writable by others"
  | "readable by others";

/** Looks at a path itself (never through a link) and names the first fault, or nothing: ours alone, 0700. */
export function folderFault(path: string): FolderFault | undefined {
  let info: Deno.FileInfo;
  try {
    info = Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "missing";
    throw error;
  }
  if (info.isSymlink) return "a link";
  if (!info.isDirectory) return "not a folder";
  // Windows has neither owner nor mode: the user's profile folder is private by its access list.
  if (Deno.build.os === "windows") return undefined;
  if (info.uid !== Deno.uid()) return "owned by someone else";
  if ((info.mode! & 0o022) !== 0) return "writable by others";
  if ((info.mode! & 0o055) !== 0) return "readable by others";
  return undefined;
}
