import type { Preopen, SymlinkPlace } from "./host.ts";

/** The main thread's half of making a link: walks again, then makes it. @throws string a WASI error code. */
export function symlinkInside(_preopens: readonly Preopen[], _place: SymlinkPlace): void {
  throw new Error("Not built yet");
}
