/** Sentences of ours: what stands between backticks is code. */
import { html, type Markup } from './markup.ts';

/** Code that is no longer than this is kept on one line: a flag that is broken at its hyphens cannot be read. */
const UNBROKEN = 24;

export function prose(text: string): Markup {
  const parts = text.split(/`([^`\n]+)`/);
  const code = (part: string) =>
    part.length <= UNBROKEN ? html`<code class="short">${part}</code>` : html`<code>${part}</code>`;
  return html`${parts.map((part, at) => (at % 2 === 1 ? code(part) : part))}`;
}

/** "Answered 500." from "answered 500": a reason of the run as the beginning of a line. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
