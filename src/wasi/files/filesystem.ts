import { Descriptor } from "./descriptor.ts";
import { DirectoryEntryStream } from "./directory_entry_stream.ts";
import type { FileHost } from "./file_host.ts";
import { HOSTED } from "../hosted.ts";
import { IoError } from "../io_error.ts";
import type { Folder } from "./place.ts";

/** `wasi:filesystem/types` and `preopens`. */
export function filesystemImports(host: FileHost): Record<string, Record<string, unknown>> {
  return {
    "wasi:filesystem/types": {
      Descriptor,
      DirectoryEntryStream,
      filesystemErrorCode: (error: IoError) => error.fileCode,
    },
    "wasi:filesystem/preopens": {
      getDirectories: () => host.preopens.map((preopen, index) => [openPreopen(host, index), preopen.guest]),
    },
  };
}

/** A descriptor of a preopen's root, which counts as no open file. @throws Error when the granted folder is gone. */
function openPreopen(host: FileHost, index: number): Descriptor {
  const preopen = host.preopens[index]!;
  const info = Deno.lstatSync(preopen.host);
  if (!info.isDirectory) throw new Error(`Open a preopen: ${preopen.guest} is no folder any more`);
  const folder: Folder = { preopen, index, parts: [], info };
  const flags = { read: true, mutateDirectory: preopen.mode === "rw" };
  return new Descriptor(HOSTED, host, folder, { kind: "folder", folder }, flags);
}
