/**
 * Renders a page as one self-contained file. It loads and sends nothing: its policy allows one style and one script,
 * each by its digest. Every page is readable without its script.
 */
import { createHash } from 'node:crypto';
import { HookproofError } from '../../../contract/index.ts';
import { readPackageFile } from '../../../contract/package-file.ts';
import { html, type Markup, textOf } from './markup.ts';

type Asset = 'report.css' | 'report.js' | 'fleet.css' | 'fleet.js';

const assets = new Map<Asset, string>();

/**
 * Reads a style or a script of the pages.
 *
 * @throws HookproofError REPORT_PAGE
 */
export function readAsset(name: Asset): string {
  const known = assets.get(name);
  if (known !== undefined) return known;
  const file = readPackageFile(`harness/report/html/${name}`);
  if (file !== null) {
    const text = file.toString();
    assets.set(name, text);
    return text;
  }
  throw new HookproofError('REPORT_PAGE', `${name} of the HTML report was not found.`, {
    hint: 'The file belongs to the package, in harness/report/html/: reinstall the package.',
    kind: 'internal',
  });
}

const digest = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Renders the page as text, ending with a newline. Styles are joined in order. */
export function renderPage(page: {
  readonly title: string;
  readonly styles: readonly Asset[];
  readonly script: Asset;
  readonly body: Markup;
  /** The class of the body element. */
  readonly kind?: string;
}): string {
  const style = page.styles.map(readAsset).join('');
  const script = readAsset(page.script);
  const policy = [
    "default-src 'none'",
    `style-src ${digest(style)}`,
    `script-src ${digest(script)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const head = html`<!doctype html>
<html lang="en"><head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${page.title}</title>
`;
  const body = html`<body${page.kind !== undefined && html` class="${page.kind}"`}>${page.body}`;
  // Style and script are our own files, and the policy contains their digests, so they are not escaped.
  return `${textOf(head)}<style>${style}</style></head>${textOf(body)}<script>${script}</script></body></html>\n`;
}
