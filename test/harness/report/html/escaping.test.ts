import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareRuns } from '../../../../harness/report/compare.ts';
import { renderComparisonPage } from '../../../../harness/report/html/comparison-page.ts';
import { html, textOf } from '../../../../harness/report/html/markup.ts';
import { renderHtml } from '../../../../harness/report/html/report-page.ts';
import { renderFleetHtml } from '../../../../harness/report/index.ts';
import { resultDocument } from '../../../../harness/report/result-document.ts';
import { standingWith, viewWith } from '../../fleet/documents.ts';
import { documentOf, documentWith } from '../documents.ts';
import { HOSTILE, hostileDocuments } from './hostile-documents.ts';
import { readPage } from './strict-html.ts';

describe('the template', () => {
  it('escapes and truncates its values, and accepts markup only from itself', () => {
    expect(
      textOf(html`<p title="${'"'}">${"<b>&'\x1b\u202e"}${html`<i>${1}</i>`}${[null, false, undefined, 'x']}</p>`),
    ).toBe('<p title="&quot;">&lt;b&gt;&amp;&#39;\\x1b\\u202e<i>1</i>x</p>');
    expect(textOf(html`${'a'.repeat(2000)}`)).toBe(`${'a'.repeat(1500)} [500 more characters]`);
    // This is as close to markup as a document can get.
    const forged = JSON.parse('{"markup":"<b>","Symbol(markup)":"<b>"}');
    expect(() => textOf(html`${forged}`)).toThrow();
  });
});

describe('the page', () => {
  it('contains only elements, attributes, references and characters of the report', async () => {
    const documents = await hostileDocuments();
    fc.assert(
      fc.property(documents, (document) => {
        expect(resultDocument.parse(document)).toEqual(document);
        readPage(renderHtml(document));
      }),
      { numRuns: 60 },
    );
  });

  it('of a comparison contains only these as well, whatever the two documents contain', async () => {
    const documents = await hostileDocuments();
    fc.assert(
      fc.property(documents, documents, (before, now) => {
        const comparison = compareRuns(before, now);
        readPage(renderHtml(now, comparison));
        const files = [before, now].map(({ seed }) => ({ name: seed, report: 'a/report.html' }));
        readPage(renderComparisonPage(comparison, [files[0]!, files[1]!]));
      }),
      { numRuns: 30 },
    );
  });

  it.each(HOSTILE.map((text) => [text.slice(0, 60), text]))('is not broken by %j in any place', (_, text) => {
    const tags = readPage(renderHtml(documentOf(text)));
    expect(tags.filter(({ name }) => name === 'script')).toHaveLength(1);
  });

  it('is rejected by the strict reader when something breaks out', () => {
    const page = renderHtml(documentWith({ seed: 'MARK' }));
    for (const text of ['<img src="x">', '<b onclick="x">', '&copy', '<a href="https://x/">', '</dd></dl>', '\u202e']) {
      expect(() => readPage(page.replace('MARK', text)), text).toThrow();
    }
    readPage(page);
  });
});

describe('the page of many partners', () => {
  it('has the same tags and attributes whatever its texts contain', async () => {
    const withText = (text: string) => {
      const bad = standingWith('bad', 'failing', 1);
      const counts = { pass: 0, fail: 1, warn: 0, inconclusive: 0, notApplicable: 0, harnessError: 0 };
      const last = bad.last.map((one) => ({ ...one, url: `https://x.example/${text}`, suites: { [text]: counts } }));
      const all = [{ ...bad, last, reason: text, warnings: [text] }, standingWith('good', 'certified', 1)];
      return renderFleetHtml(viewWith(all, { caveats: [`Incomplete: ${text}`] }));
    };
    const tagsOf = (page: string) => page.match(/<[^>]*>/g)?.map((tag) => tag.replace(/"[^"]*"/g, '""'));
    const page = await withText(`"><script>alert(1)</script><!-- \x1b[2J\u202e' onload=x`);
    expect(tagsOf(page)).toEqual(tagsOf(await withText('tame')));
    expect(page.match(/<script>/g)).toHaveLength(1);
    expect(page).not.toMatch(/[\x1b\u202e]/);
    expect(page).toContain('Incomplete:');
    expect(page).toContain('href="good/report.html"');
  });
});
