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
    for (const part of [answer.content, answer.structuredContent]) {
      expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThanOrEqual(2_000);
    }
    expect(JSON.stringify(answer)).not.toContain('s3cret');
    const { checks, pages } = answer.structuredContent as { checks: string[]; pages: number };
    shown.push(...checks);
    if (page === pages) break;
  }
  expect(shown).toHaveLength(entries.length);
});

it('an answer names the entries that are larger than it, and the size that each needs', () => {
  const entries = [100, 3_000, 100].map((length, at) => ({ name: `entry ${at}`, text: 'x'.repeat(length), data: at }));
  const contents = { head: [], data: {}, list: 'parts', entries };
  const given = { page: 1, marker: createMarker(), redact: (text: string) => text };
  const small = answerOf(contents, { ...given, maxBytes: 2_000 });
  const { tooLarge } = small.structuredContent as { tooLarge: { name: string; maxBytes: number }[] };
  const { maxBytes, name } = tooLarge[0]!;
  expect(name).toBe('entry 1');
  expect(small).toMatchObject({ structuredContent: { parts: [0, 2], pages: 1 } });
  expect(small.content).toEqual([
    expect.objectContaining({ text: expect.stringContaining(`does not fit; ask again with maxBytes ${maxBytes}`) }),
  ]);
  const pages = [1, 2, 3].flatMap((page) => answerOf(contents, { ...given, page, maxBytes }).structuredContent?.parts);
  expect(pages).toContain(1);
});
