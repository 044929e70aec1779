/** Reads and replaces sections of a Markdown page that several programs write. */

/** Returns a section from its heading (`## Title`) up to the next heading of that level. Empty if there is none. */
export function sectionOf(page: string, heading: string): string {
  const from = page.indexOf(`${heading}\n`);
  if (from < 0) return '';
  const to = page.indexOf('\n## ', from);
  return to < 0 ? page.slice(from) : page.slice(from, to + 1);
}

/**
 * Returns the page with this section in place of the one with the same heading or, if there is none, before the section
 * `before`.
 */
export function withSection(page: string, heading: string, text: string, before: string): string {
  const old = sectionOf(page, heading);
  const section = `${heading}\n\n${text}\n\n`;
  // The replacements are functions, because a replacement text may contain `$`.
  return old === '' ? page.replace(`${before}\n`, (match) => section + match) : page.replace(old, () => section);
}
