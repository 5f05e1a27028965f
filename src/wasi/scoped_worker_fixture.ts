// A worker with the permissions of a guest: every file function, once, in the folder it is granted.
import { bareOptions, type HostFixture, preopenDescriptors, readText, writeText } from "./host_fixture.ts";
import { createWasi, type Denial } from "./host.ts";

const scope = self as unknown as { onmessage: (event: MessageEvent) => void; postMessage(data: unknown): void };

scope.onmessage = ({ data }: MessageEvent<Pick<HostFixture, "root" | "otherRoot" | "outside">>) => {
  const denials: Denial[] = [];
  const wasi = createWasi(bareOptions({
    preopens: [
      { guest: "/rw", host: data.root, mode: "rw" },
      { guest: "/other", host: data.otherRoot, mode: "rw" },
    ],
    onDenied: (denial) => denials.push(denial),
  }));
  try {
    scope.postMessage({ done: useAll(wasi), denials });
  } catch (error) {
    scope.postMessage({ error: String(error) });
  } finally {
    wasi.close();
  }
};

function useAll(wasi: ReturnType<typeof createWasi>): unknown[] {
  const [rw, other] = preopenDescriptors(wasi);
  const now = { tag: "now" } as const;
  rw!.createDirectoryAt("a");
  writeText(rw!, "a/f", "text");
  rw!.linkAt({}, "a/f", other!, "hard");
  rw!.renameAt("a/f", other!, "g");
  other!.renameAt("g", rw!, "a/g");
  rw!.setTimesAt({}, "a/g", now, now);
  rw!.setTimes(now, now);
  rw!.sync();
  const file = rw!.openAt({}, "a/g", {}, { read: true, write: true });
  file.setSize(2n);
  file.sync();
  const first = rw!.openAt({}, "a", {}, { read: true }).readDirectory().readDirectoryEntry()?.name;
  rw!.unlinkFileAt("a/g");
  rw!.removeDirectoryAt("a");
  return [first, readText(other!, "hard"), other!.stat().type];
}
