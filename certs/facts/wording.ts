/** Text from certificates, made safe to print. */
import { visible } from '../../contract/visible.ts';

/**
 * Makes untrusted text safe to print: at most `characters` characters, with an ellipsis if truncated, and with control
 * characters escaped.
 */
export function visibleText(text: string, characters: number): string {
  // A character has at most two code units. The slice avoids splitting a text of megabytes.
  const all = Array.from(text.slice(0, characters * 2 + 2));
  return visible(all.length > characters ? `${all.slice(0, characters - 1).join('')}…` : all.join(''));
}

/** Turns a clause into a sentence with a capital letter and a full stop. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}
