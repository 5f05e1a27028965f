/** STUB */
export function digestBytes(bytes: Uint8Array): string {
  throw new Error(`digestBytes ${bytes.length}`);
}
/** STUB */
export function digestFile(path: string): string {
  throw new Error(`digestFile ${path}`);
}
/** STUB */
export function digestFolder(root: string): string {
  throw new Error(`digestFolder ${root}`);
}
