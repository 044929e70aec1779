import { expect, it } from 'vitest';
import { answerOf, createMarker } from '../../../harness/mcp/answer.ts';

it('an answer stays within its limit when what replaces a secret is longer than the secret', () => {
  const entries = Array.from({ length: 60 }, (_, at) => ({
    name: `check-${at}`,
    text: `${at}: s3cret`,
    data: 's3cret',
  }));
  const contents = { head: ['a run'], data: { run: 'r1' }, list: 'checks', entries };
  const redact = (text: string) => text.replaceAll('s3cret', '[redacted:signature secret]');
  const shown = [];
  for (let page = 1; ; page += 1) {
    const answer = answerOf(contents, { maxBytes: 2_000, page, marker: createMarker(), redact });
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThanOrEqual(2_000);
    expect(JSON.stringify(answer)).not.toContain('s3cret');
    const { checks, pages } = answer.structuredContent as { checks: string[]; pages: number };
    shown.push(...checks);
    if (page === pages) break;
  }
  expect(shown).toHaveLength(entries.length);
});
