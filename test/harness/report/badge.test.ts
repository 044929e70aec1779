import { describe, expect, it } from 'vitest';
import { renderBadge } from '../../../harness/report/index.ts';
import { parseXml } from '../../setup/parse-xml.ts';
import { documentWith, resultWith } from './documents.ts';

const failed = [resultWith({ verdict: 'fail' }), resultWith({ verdict: 'fail', id: 'a/b' })];

/** What the badge says aloud, and its colour. */
function said(parts: Parameters<typeof documentWith>[0]): [string | undefined, string | undefined] {
  const badge = renderBadge(documentWith(parts));
  const { attributes } = parseXml(badge);
  return [attributes['aria-label'], /<rect x=.*fill="(#\w+)"/.exec(badge)?.[1]];
}

describe('the badge', () => {
  it.each([
    [{}, 'hookproof: conformant', '#19703c'],
    [{ profile: 'staging' as const }, 'hookproof: conformant · staging', '#19703c'],
    [{ results: failed }, 'hookproof: not conformant · 2 failed', '#b3261e'],
    [{ results: [resultWith({ verdict: 'inconclusive' })] }, 'hookproof: no verdict', '#5f6670'],
    [{ results: [resultWith({ verdict: 'harness-error' })] }, 'hookproof: harness error', '#5f6670'],
    [{ interrupted: true }, 'hookproof: partial run', '#5f6670'],
    [{ interrupted: true, results: failed }, 'hookproof: partial run · 2 failed', '#b3261e'],
    [{ shard: { index: 1, of: 4 } }, 'hookproof: partial run', '#5f6670'],
  ])('%j', (parts, words, colour) => {
    expect(said(parts)).toEqual([words, colour]);
  });

  it('holds nothing of the endpoint', () => {
    const badge = renderBadge(
      documentWith({ target: { url: 'http://x/<script>', features: [], tls: null }, seed: '<b>' }),
    );
    expect(badge).not.toMatch(/script|<b>|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  });
});
