/**
 * Attempts while another process swaps a name without a pause: what is at it is granted at one moment, and leads out at
 * the next. The rounds are shared by all ways; what was written shows in what has changed.
 */
import type { Attempt } from "./attempt.ts";

/** A file that is a link to a secret half of the time. */
export const swappedLink: Attempt = {
  isSwapped: true,
  guest: {
    often: ({ often, withFile, setTimes }) => {
      const path = "/workdir/swapped-file";
      const bytes = new Uint8Array([119]);
      const ways = [
        () => withFile(path, { read: true }, (file) => file.read(9, 0)[0].length === "secret".length),
        () => withFile(path, { write: true }, (file) => file.write(bytes, 0)),
        () => withFile(path, { write: true, create: true, truncate: true }, (file) => file.write(bytes, 0)),
        () => setTimes(path, { tag: "now" }, { tag: "now" }),
      ];
      return often((round) => ways[round % ways.length]!());
    },
  },
  guestTwin: ({ eventually, withFile }) =>
    eventually(() =>
      withFile("/workdir/swapped-file", { read: true }, (file) => file.read(9, 0)[0].length < "secret".length)
    ),
  injected: {
    often: ({ often }, { work, outside }) =>
      often((round) => {
        if (round % 2 === 0) return Deno.readTextFileSync(`${work}/swapped-file`).endsWith("ecret");
        // One letter in place of another: neither file grows, and which it is can still be read.
        using file = Deno.openSync(`${work}/swapped-file`, { write: true });
        file.writeSync(new Uint8Array([119]));
        return Deno.readTextFileSync(`${outside}/swapped.txt`) !== "secret";
      }),
  },
  injectedTwin: ({ eventually }, { work }) =>
    eventually(() => Deno.readTextFileSync(`${work}/swapped-file`).endsWith("wn")),
};

/** A folder that is a link to one outside half of the time. */
export const swappedFolder: Attempt = {
  isSwapped: true,
  guest: {
    often: ({ often, withFile, makeFolder, symlink, link }) => {
      const folder = "/workdir/swapped-folder";
      const bytes = new Uint8Array([119]);
      const create = { write: true, create: true, exclusive: true };
      const ways = [
        () => withFile(`${folder}/in.txt`, { read: true }, (file) => file.read(9, 0)[0].length === "secret".length),
        () => withFile(`${folder}/in.txt`, { write: true, truncate: true }, () => false),
        (round: number) => withFile(`${folder}/new-${round}`, create, (file) => file.write(bytes, 0)),
        (round: number) => makeFolder(`${folder}/new-${round}`),
        (round: number) => symlink("in.txt", `${folder}/new-${round}`),
        (round: number) => link("/workdir/own.txt", `${folder}/new-${round}`),
      ];
      return often((round) => ways[round % ways.length]!(round));
    },
  },
  guestTwin: ({ eventually, withFile }) =>
    eventually(() =>
      withFile("/workdir/swapped-folder/own.txt", { read: true }, (file) => file.read(9, 0)[0].length === 3)
    ),
  injected: {
    often: ({ often }, { work, outside }) =>
      often((round) => {
        if (round % 2 === 0) return Deno.readTextFileSync(`${work}/swapped-folder/in.txt`) === "secret";
        const name = `new-${round % 8}`;
        Deno.writeTextFileSync(`${work}/swapped-folder/${name}`, "written");
        return Deno.lstatSync(`${outside}/swapped/${name}`) !== undefined;
      }),
  },
  injectedTwin: ({ eventually }, { work }) =>
    eventually(() => Deno.readTextFileSync(`${work}/swapped-folder/own.txt`) === "own"),
};
