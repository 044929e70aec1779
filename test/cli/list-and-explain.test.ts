import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../contract/index.ts';
import { explain } from '../../harness/cli/commands/explain.ts';
import { CATALOGUE, catalogueDigest, REQUIREMENTS } from '../../scenarios/index.ts';
import { hookproof, MAIN } from './hookproof.ts';

const SCENARIOS = CATALOGUE.flatMap(({ scenarios }) => scenarios);

describe('list', () => {
  it('ends normally when its reader closes the pipe', async () => {
    const child = spawn(process.execPath, [MAIN, 'list'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`${SCENARIOS.length} scenarios`) });
    expect(stderr).not.toContain('EPIPE');
  });

  const kinds: [string, string[]][] = [
    ['scenarios', SCENARIOS.map(({ id }) => id)],
    ['suites', CATALOGUE.map(({ name }) => name)],
    ['requirements', REQUIREMENTS.map(({ id }) => id)],
    ['error-codes', ERROR_CODES.map(({ code }) => code)],
  ];

  it.each(kinds)('--what %s prints one line for each, and their number on stderr', async (what, ids) => {
    const { code, stdout, stderr } = await hookproof(['list', '--what', what]);
    expect({
      code,
      ids: stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ')[0]),
    }).toEqual({ code: 0, ids });
    expect(stderr).toContain(`${ids.length} ${what}`);
  });

  it.each(kinds)('--what %s --json prints a document with each of them', async (what, ids) => {
    const { code, stdout, stderr } = await hookproof(['list', '--what', what, '--json']);
    const { catalogue, what: said, items } = JSON.parse(stdout);
    expect({ code, stderr, catalogue, said }).toEqual({
      code: 0,
      stderr: '',
      catalogue: catalogueDigest(),
      said: what,
    });
    expect(items.map((item: Record<string, string>) => item.id ?? item.name ?? item.code)).toEqual(ids);
  });

  it('--suite selects suites', async () => {
    const { stdout } = await hookproof(['list', '--suite', 'typo-key', '--suite', 'combination', '--json']);
    const { items } = JSON.parse(stdout) as { items: { suite: string }[] };
    expect([...new Set(items.map(({ suite }) => suite))]).toEqual(['typo-key', 'combination']);
  });

  it('--schemas prints JSON Schemas that compile', async () => {
    const { code, stdout } = await hookproof(['list', '--schemas']);
    const { notifications, result, event } = JSON.parse(stdout);
    expect(code).toBe(0);
    const ajv = new Ajv2020({ strict: false });
    for (const schema of [result, event, ...Object.values(notifications)])
      expect(ajv.compile(schema as object)).toBeTypeOf('function');
    expect(Object.keys(notifications).length).toBeGreaterThan(0);
  });
});

describe('explain', () => {
  it.each([
    ['signature/missing', ['Expects    401', 'Level      must', 'hookproof run URL --scenario signature/missing']],
    ['leaks/nowhere', ['nothing: it examines the whole run']],
    ['hmac-raw-body', ['specification, ', 'Scenario   raw-body/']],
    ['tls-revocation', ['Not tested ']],
    ['tls/tls-1-0-refused', ['a ClientHello that offers TLS 1.0', 'a TLS alert or a closed connection']],
    ['tls/key-size', ['RSA of at least 2048 bits', 'the certificates that the endpoint sends']],
    ['combination', ['combination/both-right: ']],
    ['BLOCKCHAIN_ACCEPTED', ['order status']],
    ['COMPLETED', ['order status', 'order tracking status']],
    ['352-102-S1', ['352-102-S1: ', 'Group']],
    ['999-999-E9', ['not a listed code']],
    ['152-99-S2', ['Group']],
  ])('%s', (id, says) => {
    for (const words of says) expect(explain(id)).toContain(words);
  });

  it('prints the explanation', async () => {
    const stdout = explain('signature/missing');
    expect(await hookproof(['explain', 'signature/missing'])).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('explains everything that list prints', () => {
    const ids = [...SCENARIOS, ...REQUIREMENTS].map(({ id }) => id);
    const all = [...ids, ...CATALOGUE.map(({ name }) => name), ...ERROR_CODES.map(({ code }) => code)];
    expect(all.filter((id) => !explain(id)?.startsWith(`${id}: `))).toEqual([]);
    expect(explain('no-such-thing')).toBeNull();
    expect(explain('constructor')).toBeNull();
  });

  it('has no empty field in any explanation', () => {
    const ids = [...SCENARIOS, ...REQUIREMENTS].map(({ id }) => id);
    const gap = /^(?:Level|Needs|Sends|Expects|Why|Fix|Binds|Source|Requirement \S+:|Scenario)\s*$/m;
    expect(ids.filter((id) => gap.test(explain(id) ?? ''))).toEqual([]);
  });

  it('escapes control characters in an unknown id', async () => {
    const { code, stderr } = await hookproof(['explain', '\x1b[31mx\u202e']);
    expect({ code, first: stderr.split('\n')[0] }).toEqual({
      code: 2,
      first: 'hookproof: unknown id "\\x1b[31mx\\u202e"',
    });
  });
});
