/** Quotes text for a POSIX shell. */

/** Returns a text as one word in single quotes. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns a text as one word, quoted only if it needs to be. */
export function shellWord(text: string): string {
  return /^[\w./:@=-]+$/.test(text) ? text : quote(text);
}
