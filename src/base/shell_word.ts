/** What no shell reads as anything but itself. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * One word of a command that a person is told to type, as a POSIX shell reads it: in single quotes unless it is plain, for
 * foreign text in it could be a command of its own.
 */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
