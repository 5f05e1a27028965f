import type { FileError } from "./file_error.ts";
import type { FileHost } from "./file_host.ts";
import { OpenFile } from "./open_file.ts";
import { type Folder, isSameFile, lstat, requireWritable } from "./place.ts";
import { type Place, walk } from "./walk.ts";

const ATTEMPTS = 3;

/** `path-flags`. */
export interface PathFlags {
  readonly symlinkFollow?: boolean;
}

/** `open-flags`. */
export interface OpenFlags {
  readonly create?: boolean;
  readonly directory?: boolean;
  readonly exclusive?: boolean;
  readonly truncate?: boolean;
}

/** `descriptor-flags`. */
export interface DescriptorFlags {
  readonly read?: boolean;
  readonly write?: boolean;
  readonly fileIntegritySync?: boolean;
  readonly dataIntegritySync?: boolean;
  readonly requestedWriteSync?: boolean;
  readonly mutateDirectory?: boolean;
}

/** What a path was opened as. */
export type Opened =
  | { readonly kind: "folder"; readonly folder: Folder }
  | { readonly kind: "file"; readonly open: OpenFile };

/** Where and how to open. */
export interface OpenRequest {
  readonly path: string;
  readonly follow: boolean;
  readonly how: OpenFlags;
  readonly flags: DescriptorFlags;
}

/**
 * Opens a regular file or a folder. Nothing else is ever opened: its kind is looked at before (a FIFO would hold up the
 * thread) and again on the handle, and a file is cut only after that.
 * @throws FileError
 */
export function openAt(host: FileHost, folder: Folder, request: OpenRequest): Opened {
  const { how, flags } = request;
  if (how.create || how.truncate || flags.write) requireWritable(folder.preopen);
  if (how.directory && (how.create || how.exclusive || how.truncate)) throw "invalid" satisfies FileError;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const opened = openOnce(host, folder, request, attempt === 1);
    if (opened !== undefined) return opened;
  }
  throw "busy" satisfies FileError;
}

/** `undefined` when another process changed what is there between two looks at it. */
function openOnce(host: FileHost, folder: Folder, request: OpenRequest, isFirst: boolean): Opened | undefined {
  const { path, follow, how, flags } = request;
  const isNew = how.create === true && how.exclusive === true;
  const place = walk(folder, {
    path,
    last: follow && !isNew ? "follow" : "keep",
    isNew: isFirst && how.create === true,
    onEscape: (asked) => host.deny(folder.preopen, "open", asked),
  });
  const { info } = place;
  if (info === undefined) return how.create ? createFile(host, place, request) : refuse("no-entry");
  if (isNew) return refuse("exist");
  if (info.isSymlink) return refuse("loop");
  if (info.isDirectory) {
    if (flags.write || how.create || how.truncate) return refuse("is-directory");
    host.usage.open();
    const opened = { preopen: folder.preopen, index: folder.index, parts: place.parts, info };
    return { kind: "folder", folder: host.addFolder(opened) };
  }
  if (how.directory) return refuse("not-directory");
  if (!info.isFile) {
    host.deny(folder.preopen, "open", path);
    return refuse("not-permitted");
  }
  return openFile(host, place, info, request);
}

function openFile(host: FileHost, place: Place, info: Deno.FileInfo, request: OpenRequest): Opened | undefined {
  const write = request.flags.write === true || request.how.truncate === true;
  const options = { read: request.flags.read === true || !write, write };
  const file = openOrGone(host, place, options);
  if (file === undefined) return undefined;
  try {
    const opened = file.statSync();
    if (!opened.isFile || !isSameFile(opened, info)) return discard(host, file);
    if (request.how.truncate) file.truncateSync(0);
    return wrap(host, file, request);
  } catch (error) {
    discard(host, file);
    throw error;
  }
}

function createFile(host: FileHost, place: Place, request: OpenRequest): Opened | undefined {
  if (place.saysFolder) throw "is-directory" satisfies FileError;
  host.usage.beginBlock();
  const file = openOrGone(host, place, { read: request.flags.read === true, write: true, createNew: true });
  if (file === undefined && request.how.exclusive) throw "exist" satisfies FileError;
  return file === undefined ? undefined : wrap(host, file, request);
}

/** `undefined` when what the walk saw is no longer so. */
function openOrGone(host: FileHost, place: Place, options: Deno.OpenOptions): Deno.FsFile | undefined {
  host.usage.open();
  try {
    return Deno.openSync(place.host, options);
  } catch (error) {
    host.usage.closed();
    const isNow = options.createNew === true ? error instanceof Deno.errors.AlreadyExists : isGone(error, place);
    if (isNow) return undefined;
    throw error;
  }
}

function isGone(error: unknown, place: Place): boolean {
  return error instanceof Deno.errors.NotFound && lstat(place.host) === undefined;
}

function wrap(host: FileHost, file: Deno.FsFile, { flags }: OpenRequest): Opened {
  const writeSync = flags.fileIntegritySync || flags.requestedWriteSync
    ? "all"
    : flags.dataIntegritySync
    ? "data"
    : "none";
  return { kind: "file", open: new OpenFile(file, host.usage, host.openFiles, writeSync) };
}

function discard(host: FileHost, file: Deno.FsFile): undefined {
  file.close();
  host.usage.closed();
}

function refuse(code: FileError): never {
  throw code;
}
