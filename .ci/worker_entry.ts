/**
 * A thread in the executable: it can read nothing, so that whoever starts it posts it the pack of its role.
 * @module
 */
import { openPack, partsOf } from "./script_loader.ts";

/** The entry of its role, such as `./worker.js`. */
declare const THREAD: string;

const scope = globalThis as unknown as { onmessage: ((event: MessageEvent<Uint8Array<ArrayBuffer>>) => void) | null };

scope.onmessage = ({ data }) => {
  scope.onmessage = null;
  openPack(partsOf(data), THREAD)(THREAD);
};
