import { describe, expect, it } from 'vitest';
import { hasHiddenPart, maskTargetOf, maskUrl, secretsInUrl } from '../../contract/masked-url.ts';

describe('a URL that is shown', () => {
  it.each([
    ['https://h.example/hooks', 'https://h.example/hooks'],
    ['https://h.example/hooks?token=abc&x=', 'https://h.example/hooks?token=[redacted]&x=[redacted]'],
    ['https://h.example/?abcdef&&=1', 'https://h.example/?[redacted]&&=[redacted]'],
    ['https://user:pass@h.example:8443/a@b', 'https://[redacted]@h.example:8443/a@b'],
    ['https://u:p@ss@h.example/', 'https://[redacted]@h.example/'],
    ['https://h.example/#access_token=abc', 'https://h.example/#[redacted]'],
    ['/hooks?token=a=b', '/hooks?token=[redacted]'],
    ['no url', 'no url'],
  ])('%s is %s', (url, shown) => {
    expect(maskUrl(url)).toBe(shown);
    expect(maskUrl(shown)).toBe(shown);
    expect(hasHiddenPart(shown)).toBe(url !== shown);
  });

  it('shows in a request what a probe has added to it', () => {
    const url = 'https://h.example/hooks?token=abc&tenant=a b';
    expect(maskTargetOf(url, '/hooks?token=abc&tenant=a%20b')).toBe('/hooks?token=[redacted]&tenant=[redacted]');
    expect(maskTargetOf(url, '/other?debug=true&token=abc')).toBe('/other?debug=true&token=[redacted]');
    expect(maskTargetOf('https://h.example/', '/?debug=true')).toBe('/?debug=true');
  });

  it('has secrets where values are named like credentials or look like tokens', () => {
    const url = 'https://operator:pass-word@h.example/?token=a%2Fbcdefghij&mode=production&id=ab12cd34&k=v1';
    expect(secretsInUrl(url)).toEqual(['operator', 'pass-word', 'a/bcdefghij', 'ab12cd34', 'a%2Fbcdefghij']);
    expect(secretsInUrl('https://h.example/?0a1b2c3d4e')).toEqual(['0a1b2c3d4e']);
    expect(secretsInUrl('https://h.example/hooks')).toEqual([]);
    expect(secretsInUrl('no url')).toEqual([]);
  });
});
