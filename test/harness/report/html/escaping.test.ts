import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html, textOf } from '../../../../harness/report/html/markup.ts';
import { renderHtml } from '../../../../harness/report/html/report-page.ts';
import { resultDocument } from '../../../../harness/report/result-document.ts';
import { documentWith, exchangeWith, resultWith, textBody } from '../documents.ts';
import { HOSTILE, hostileDocuments } from './hostile-documents.ts';
import { readPage } from './strict-html.ts';

describe('the template', () => {
  it('escapes and caps what is put into it, and takes markup only from itself', () => {
    expect(
      textOf(html`<p title="${'"'}">${"<b>&'\x1b\u202e"}${html`<i>${1}</i>`}${[null, false, undefined, 'x']}</p>`),
    ).toBe('<p title="&quot;">&lt;b&gt;&amp;&#39;\\x1b\\u202e<i>1</i>x</p>');
    expect(textOf(html`${'a'.repeat(2000)}`)).toBe(`${'a'.repeat(1500)} [500 more characters]`);
    // What a document could hold at most.
    const forged = JSON.parse('{"markup":"<b>","Symbol(markup)":"<b>"}');
    expect(() => textOf(html`${forged}`)).toThrow();
  });
});

describe('the page', () => {
  it('holds no element, attribute, reference or character that is not its own, whatever the document says', async () => {
    const documents = await hostileDocuments();
    fc.assert(
      fc.property(documents, (document) => {
        expect(resultDocument.parse(document)).toEqual(document);
        readPage(renderHtml(document));
      }),
      { numRuns: 60 },
    );
  });

  it.each(HOSTILE.map((text) => [text.slice(0, 60), text]))(
    'is not broken by %j in every place of a failure',
    (_, text) => {
      const body = textBody(text);
      const exchange = exchangeWith({
        label: text,
        request: { method: text, target: text, headers: [[text, text]], body },
        response: { status: 200, headers: [[text, text]], body },
      });
      const control = exchangeWith({ role: 'control', label: text, changes: [] });
      const failed = resultWith({
        id: `${text}/x`,
        suite: text,
        title: text,
        requirements: [text],
        verdict: 'fail',
        expected: text,
        observed: text,
        reason: text,
        why: text,
        fix: text,
        known: null,
        reproduce: { curl: text, command: text },
        exchanges: [control, exchange],
      });
      const tags = readPage(renderHtml(documentWith({ results: [failed], seed: text })));
      expect(tags.filter(({ name }) => name === 'script')).toHaveLength(1);
    },
  );

  it('the strict reader sees what breaks out', () => {
    const page = renderHtml(documentWith({ seed: 'MARK' }));
    for (const text of ['<img src="x">', '<b onclick="x">', '&copy', '<a href="https://x/">', '</dd></dl>', '\u202e']) {
      expect(() => readPage(page.replace('MARK', text)), text).toThrow();
    }
    readPage(page);
  });
});
