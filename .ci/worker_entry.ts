/**
 * The guest's thread in the executable: it can read nothing, so that its cell posts it the pack of its role.
 * @module
 */
import { openPack } from "./script_loader.ts";

const scope = globalThis as unknown as { onmessage: ((event: MessageEvent<Uint8Array<ArrayBuffer>>) => void) | null };

scope.onmessage = ({ data }) => {
  scope.onmessage = null;
  openPack(data, "./worker.js")("./worker.js");
};
