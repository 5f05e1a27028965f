/** STUB */
export function closest(word: string, words: readonly string[]): string | undefined {
  throw new Error(word + words);
}
