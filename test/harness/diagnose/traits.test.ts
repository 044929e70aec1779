import { describe, expect, it } from 'vitest';
import { cellsOf } from '../../../harness/diagnose/traits.ts';
import { CATALOGUE } from '../../../scenarios/index.ts';

describe('the traits of a delivery', () => {
  it.each<[id: string, label: string, traits: string[]]>([
    ['valid/plain', '', []],
    ['http/after-refused-key', 'a valid delivery after it', []],
    ['signature/missing', '', ['signature: missing']],
    ['signature/empty', '', ['signature: empty']],
    ['signature/missing-as-text', '', ['signature: missing', 'Content-Type: text/plain']],
    ['signature/missing-without-content-type', '', ['signature: missing', 'Content-Type: none']],
    ['signature/missing-by-other-methods', 'PUT', ['signature: missing', 'method: PUT']],
    ['signature/unsigned-forwarded-for-loopback', '', ['signature: missing', 'header: X-Forwarded-For']],
    ['signature/unsigned-query-skip', '', ['signature: missing', 'query: skip']],
    ['signature/unsigned-chunked', 'Transfer-Encoding: chunked', ['signature: missing', 'framing: chunked']],
    ['api-key/missing-in-other-shapes', 'an empty body', ['API key: missing', 'body: no bytes']],
    ['api-key/swapped-case', '', ['API key: the API key with upper and lower case swapped']],
    ['valid/wallet-created', '', ['notification: WALLET']],
    ['valid/refund-fail', '', ['notification: REFUND', 'status: FAIL']],
    ['raw-body/spaces', '', ['body: a form other than that of JSON.stringify']],
    ['raw-body/invalid-utf-8', '', ['body: bytes that are not UTF-8']],
    ['malformed/not-a-number', '', ['body: no JSON']],
    ['mtls/tls-1-2-no-certificate', '', ['client certificate: none']],
  ])('of %s %s are %j', (id, label, traits) => {
    expect(cellsOf(id).get(label)?.traits.slice(0, Math.max(1, traits.length))).toEqual(traits);
  });

  it('tell an invented signature from one that is made from the valid one', () => {
    const [invented] = cellsOf('signature/other-secret').values();
    expect(invented?.traits).toEqual(['signature: invented']);
    const [made] = cellsOf('signature/comma-behind').values();
    expect(made?.traits).toEqual(['signature: the valid signature followed by ",x"']);
  });

  it('are none of a check that sends no delivery', () => expect(cellsOf('valid/unheard-of').size).toBe(0));

  it('are found for every delivery of the catalogue', () => {
    const ids = CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }) => id));
    const cells = ids.flatMap((id) => [...cellsOf(id).values()]);
    expect(cells.filter(({ traits }) => traits.length > 0).length).toBeGreaterThan(1000);
  });
});
