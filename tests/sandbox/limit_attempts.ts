/** Attempts to use more than was granted, of what a wall can count. */
import type { Attempt } from "./attempt.ts";

/** More open files than 256, and the 128 that the runtime may need beside them. */
export const manyFiles: Attempt = {
  guest: {
    open: ({ open }) => {
      const files: Disposable[] = [];
      try {
        while (files.length < 600) files.push(open("/data/a.txt", { read: true }) as Disposable);
        return true;
      } finally {
        for (const file of files) file[Symbol.dispose]();
      }
    },
  },
  guestTwin: ({ open }) => {
    const files: Disposable[] = [];
    while (files.length < 100) files.push(open("/data/a.txt", { read: true }) as Disposable);
    for (const file of files) file[Symbol.dispose]();
    return true;
  },
  injected: {
    open: (_, { data }) => {
      const files: Deno.FsFile[] = [];
      try {
        while (files.length < 600) files.push(Deno.openSync(`${data}/a.txt`));
        return true;
      } finally {
        for (const file of files) file.close();
      }
    },
  },
  injectedTwin: (_, { data }) => {
    const files: Deno.FsFile[] = [];
    while (files.length < 100) files.push(Deno.openSync(`${data}/a.txt`));
    for (const file of files) file.close();
    return true;
  },
};

/** A file longer than 4 GiB, which takes no room of the disk: it is one hole. */
export const longFile: Attempt = {
  guest: {
    size: ({ withFile }) =>
      withFile("/workdir/own-1.txt", { write: true }, (file) => file.setSize(2 ** 32 + 1) === undefined),
    write: ({ withFile }) =>
      withFile("/workdir/own-2.txt", { write: true }, (file) => file.write(new Uint8Array(1), 2 ** 32) !== undefined),
  },
  guestTwin: ({ withFile }) =>
    withFile("/workdir/own-1.txt", { write: true }, (file) => file.setSize(2 ** 32) === undefined),
  injected: {
    size: (_, { work }) => Deno.truncateSync(`${work}/own-1.txt`, 2 ** 32 + 1) === undefined,
    write: (_, { work }) => {
      using file = Deno.openSync(`${work}/own-2.txt`, { write: true });
      file.seekSync(2 ** 32, Deno.SeekMode.Start);
      return file.writeSync(new Uint8Array(1)) === 1;
    },
  },
  injectedTwin: (_, { work }) => Deno.truncateSync(`${work}/own-1.txt`, 2 ** 32) === undefined,
};
