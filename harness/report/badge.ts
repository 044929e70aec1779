/** Renders the verdict as a small SVG image for a page or a README. The image contains only fixed words, numbers
 * and the name of a scheme, none of which needs escaping. */
import type { ResultDocument } from './result-document.ts';
import { verdictInWords } from './wording.ts';

const LABEL = 'hookproof';

/** White text on each of these colours has a contrast ratio of at least 4.5. */
const COLOURS = {
  conformant: '#19703c',
  nonconformant: '#b3261e',
  inconclusive: '#5f6670',
  'harness-error': '#5f6670',
} as const;

const HEIGHT = 20;
const PADDING = 6;

/**
 * Returns the approximate width in pixels of a text with its padding, in Verdana at 11 pixels. The text is stretched to
 * this width.
 */
function widthOf(text: string): number {
  const widths = [...text].map((character) =>
    /[iljtfr., ·]/.test(character) ? 4.2 : /[mw]/.test(character) ? 9.6 : 7,
  );
  return Math.round(widths.reduce((sum, width) => sum + width, 0)) + 2 * PADDING;
}

/**
 * Returns "conformant" or "not conformant · 34 failed", or "partial run" if part of the catalogue was not run; then
 * the scheme of another service, and the profile.
 */
function message(document: ResultDocument): string {
  const { counts, profile, target, verdict } = document;
  const parts = [
    document.partial ? 'partial run' : verdictInWords(document).toLowerCase(),
    verdict === 'nonconformant' && counts.fail > 0 && `${counts.fail} failed`,
    target.scheme,
    profile,
  ];
  return parts.filter((part) => part !== false && part !== null && part !== undefined).join(' · ');
}

/** Renders the image, ending with a newline: 20 pixels high, without references to fonts, styles or addresses. */
export function renderBadge(document: ResultDocument): string {
  const { partial, verdict } = document;
  const colour = COLOURS[partial && verdict === 'conformant' ? 'inconclusive' : verdict];
  const words = message(document);
  const left = widthOf(LABEL);
  const right = widthOf(words);
  const width = left + right;
  const background = (x: number, length: number, fill: string): string =>
    `<rect x="${x}" width="${length}" height="${HEIGHT}" fill="${fill}"/>`;
  const text = (content: string, x: number, length: number): string =>
    `<text x="${x + PADDING}" y="14" textLength="${length - 2 * PADDING}">${content}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" viewBox="0 0 ${width} ${HEIGHT}"`,
    ` role="img" aria-label="${LABEL}: ${words}">`,
    `<title>${LABEL}: ${words}</title>`,
    `<clipPath id="r"><rect width="${width}" height="${HEIGHT}" rx="3"/></clipPath>`,
    `<g clip-path="url(#r)">${background(0, left, '#33393f')}${background(left, right, colour)}</g>`,
    '<g fill="#fff" font-family="Verdana, DejaVu Sans, sans-serif" font-size="11">',
    `${text(LABEL, 0, left)}${text(words, left, right)}</g>`,
    '</svg>\n',
  ].join('\n');
}
