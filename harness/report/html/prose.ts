/** Sentences of ours: what stands between backticks is code. */
import { html, type Markup } from './markup.ts';

export function prose(text: string): Markup {
  const parts = text.split(/`([^`\n]+)`/);
  return html`${parts.map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

/** "Answered 500." from "answered 500": a reason of the run as the beginning of a line. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
