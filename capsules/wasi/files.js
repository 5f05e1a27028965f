/** Files and folders by their guest path, such as `/data/notes.txt`. */
import { getDirectories } from "wasi:filesystem/preopens@0.2.12";
import { writeAll } from "./streams.js";
import { encodeUtf8 } from "./text.js";

const CHUNK_BYTES = 65_536;

/** Yields `{ path, file }` for every regular file below the folder at `path`, in the order of their names. */
export function* walkFiles(path) {
  const folder = openPath(path, { directory: true }, { read: true });
  try {
    for (const { type, name } of readEntries(folder)) {
      const child = `${path}/${name}`;
      if (type === "directory") yield* walkFiles(child);
      if (type === "regular-file") yield* withFile(folder, name, child);
    }
  } finally {
    folder[Symbol.dispose]();
  }
}

/** Yields the bytes of an open file, at most 64 KiB at a time. */
export function* readChunks(file) {
  for (let offset = 0;;) {
    const [bytes, atEnd] = file.read(CHUNK_BYTES, offset);
    if (bytes.length > 0) yield bytes;
    if (atEnd || bytes.length === 0) return;
    offset += bytes.length;
  }
}

/** Makes the file at `path` hold exactly `text`. */
export function writeText(path, text) {
  const file = openPath(path, { create: true, truncate: true }, { write: true });
  const stream = file.writeViaStream(0);
  writeAll(stream, encodeUtf8(text));
  stream[Symbol.dispose]();
  file[Symbol.dispose]();
}

/** Opens `path` through the granted folder that holds it. Throws `no-entry` when none does. */
export function openPath(path, openFlags, flags) {
  for (const [folder, guest] of getDirectories()) {
    if (path === guest) return folder.openAt({}, ".", openFlags, flags);
    if (path.startsWith(`${guest}/`)) return folder.openAt({}, path.slice(guest.length + 1), openFlags, flags);
  }
  throw "no-entry";
}

function* withFile(folder, name, path) {
  const file = folder.openAt({}, name, {}, { read: true });
  try {
    yield { path, file };
  } finally {
    file[Symbol.dispose]();
  }
}

function readEntries(folder) {
  const stream = folder.readDirectory();
  const entries = [];
  for (let entry = stream.readDirectoryEntry(); entry; entry = stream.readDirectoryEntry()) entries.push(entry);
  stream[Symbol.dispose]();
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
