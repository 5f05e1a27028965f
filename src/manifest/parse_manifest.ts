import type { Manifest } from "./manifest.ts";
/** STUB */
export function parseManifest(text: string, file: string): Manifest {
  throw new Error(text + file);
}
