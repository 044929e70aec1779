/**
 * The verdict as a small SVG picture, for a page or a README. It shows words of ours and numbers only: nothing of the
 * endpoint.
 */
import type { ResultDocument } from './result-document.ts';
import { isPartial } from './verdict.ts';
import { headline } from './wording.ts';

const LABEL = 'hookproof';

/** White text on each of these has a contrast of at least 4.5. */
const COLOURS = {
  conformant: '#19703c',
  nonconformant: '#b3261e',
  inconclusive: '#5f6670',
  'harness-error': '#5f6670',
} as const;

const HEIGHT = 20;
const PADDING = 6;

/** Widths of Verdana at 11 pixels, near enough: the text is set to the width that is counted with. */
function widthOf(text: string): number {
  return [...text].reduce(
    (sum, character) => sum + (/[iljtfr., ·]/.test(character) ? 4.2 : /[mw]/.test(character) ? 9.6 : 7),
    0,
  );
}

/** "conformant", "not conformant · 34 failed"; "partial run" when a part of the catalogue was not run. */
function message(document: ResultDocument): string {
  const { counts, profile, verdict } = document;
  const parts = [
    isPartial(document) ? 'partial run' : headline(document).toLowerCase(),
    verdict === 'nonconformant' && counts.fail > 0 && `${counts.fail} failed`,
    profile,
  ];
  return parts.filter((part) => part !== false && part !== null).join(' · ');
}

function colourOf(document: ResultDocument): string {
  const { verdict } = document;
  return COLOURS[isPartial(document) && verdict === 'conformant' ? 'inconclusive' : verdict];
}

/**
 * The picture, ending with a newline: 20 pixels high, without any reference to fonts, styles or addresses elsewhere.
 */
export function renderBadge(document: ResultDocument): string {
  const said = message(document);
  const left = Math.round(widthOf(LABEL)) + 2 * PADDING;
  const right = Math.round(widthOf(said)) + 2 * PADDING;
  const text = (words: string, x: number, width: number): string =>
    `<text x="${x + PADDING}" y="14" textLength="${width - 2 * PADDING}">${words}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${HEIGHT}" viewBox="0 0 ${left + right} ${HEIGHT}" role="img" aria-label="${LABEL}: ${said}">
<title>${LABEL}: ${said}</title>
<clipPath id="r"><rect width="${left + right}" height="${HEIGHT}" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="${left}" height="${HEIGHT}" fill="#33393f"/><rect x="${left}" width="${right}" height="${HEIGHT}" fill="${colourOf(document)}"/></g>
<g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">${text(LABEL, 0, left)}${text(said, left, right)}</g>
</svg>
`;
}
