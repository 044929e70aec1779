/** Makes text from certificates safe to print. */
import { visible } from '../../contract/visible.ts';

/** Makes untrusted text safe to print: escapes control characters, and truncates it to `characters` characters. */
export function visibleText(text: string, characters: number): string {
  // A character has at most two UTF-16 code units. The slice avoids splitting a very long text.
  const all = Array.from(text.slice(0, characters * 2 + 2));
  return visible(all.length > characters ? `${all.slice(0, characters - 1).join('')}…` : all.join(''));
}

/** Turns a clause into a sentence with a capital letter and a full stop. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}
