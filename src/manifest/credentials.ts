/** STUB */
export function isCredentialName(name: string): boolean {
  throw new Error(name);
}
