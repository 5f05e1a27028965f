import { childrenOf } from "../processes.ts";

/** Everything on disk below a folder, names and all; what is no file or folder has no text. */
export function textsBelow(folder: string): string {
  return [...Deno.readDirSync(folder)].map(({ name, isDirectory, isFile }) => {
    const path = `${folder}/${name}`;
    return `${path}\n${isDirectory ? textsBelow(path) : isFile ? textOf(path) : ""}`;
  }).join("\n");
}

/** Empty for what is gone meanwhile. */
function textOf(path: string): string {
  try {
    return new TextDecoder().decode(Deno.readFileSync(path));
  } catch {
    return "";
  }
}

/** Arguments, environment and names of a process and of all below it. */
export function seenOf(pid: number): string {
  const read = (name: string) => Deno.readTextFileSync(`/proc/${pid}/${name}`);
  return [read("cmdline"), read("environ"), read("comm"), ...childrenOf(pid).map(seenOf)].join("\n");
}
