/** STUB */
export function matchesGlob(glob: string, path: string): boolean {
  throw new Error(glob + path);
}
/** STUB */
export function globOverlaps(glob: string, path: string): boolean {
  throw new Error(glob + path);
}
