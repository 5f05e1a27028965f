import type { Capsule } from "./manifest.ts";
/** STUB */
export function loadCapsule(path: string): Promise<Capsule> {
  return Promise.reject(new Error(`loadCapsule ${path}`));
}
/** STUB */
export function digestCapsule(capsule: Capsule): string {
  throw new Error(`digestCapsule ${capsule.root}`);
}
