import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { ERROR_CODES } from '../../contract/index.ts';
import { MISTAKES } from '../../contract/mistakes/index.ts';
import { explain } from '../../harness/cli/commands/explain.ts';
import { sentBytes } from '../../harness/cli/sent-bytes.ts';
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
    ['mistakes', Object.keys(MISTAKES)],
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
    const { notifications, result, event, effects } = JSON.parse(stdout);
    expect(code).toBe(0);
    const ajv = new Ajv2020({ strict: false });
    for (const schema of [result, event, effects, ...Object.values(notifications)])
      expect(ajv.compile(schema as object)).toBeTypeOf('function');
    expect(Object.keys(notifications).length).toBeGreaterThan(0);
  });
});

describe('explain', () => {
  it.each([
    ['signature/missing', ['Expects    401', 'Level      must', 'hookproof run URL --scenario signature/missing']],
    ['http/upgrade-offered', ['Level      should (a failure warns; a receiver that stops answering fails the run)']],
    ['delivery/twice', ['should (a failure warns; a redirect or no answer or a receiver that stops answering fails']],
    ['leaks/nowhere', ['nothing: it examines the whole run']],
    ['hmac-raw-body', ['specification, ', 'Scenario   raw-body/']],
    ['tls-revocation', ['Not tested ']],
    ['tls/tls-1-0-refused', ['a ClientHello that offers TLS 1.0', 'a TLS alert or a closed connection']],
    ['tls/key-size', ['RSA with at least 2048 bits', 'the certificates that the endpoint sends']],
    ['combination', ['combination/both-right: ']],
    ['BLOCKCHAIN_ACCEPTED', ['order status']],
    ['COMPLETED', ['order status', 'order tracking status']],
    ['352-102-S1', ['352-102-S1: ', 'Group']],
    ['999-999-E9', ['not a listed code']],
    ['152-99-S2', ['Group']],
  ])('%s', (id, says) => {
    for (const words of says) expect(explain(id)).toContain(words);
  });

  it('shows the changed bytes below those of the plain delivery, the same each time', () => {
    const lines = explain('raw-body/python-separators')?.split('\n') ?? [];
    const from = lines.indexOf('Bytes      - the plain valid delivery, + what is sent');
    expect(lines.slice(from + 1, from + 4)).toEqual([
      '  body: 32 spaces added, first after `"id":` (610 -> 642 bytes)',
      '  - {"id":"7e57ca5e-0000…',
      '  + {"id":·"7e57ca5e-0000…',
    ]);
    expect(explain('raw-body/python-separators')?.split('\n')).toEqual(lines);
    expect(explain('signature/empty')).toContain(
      '  - X-Service-Signature: [valid signature]\n  + X-Service-Signature: (empty)\n',
    );
    expect(explain('http/chunked')).toContain('  + Transfer-Encoding: chunked\n  the body is sent in 3 chunks\n');
    expect(explain('delivery/twice')).toContain('  copy 1 of 2, and 1 more like it: the plain valid delivery\n');
    expect(explain('mtls/tls-1-2-no-certificate')).toContain('  connection: no client certificate over TLS 1.2\n');
    expect(explain('valid/plain')).toContain('\nBytes      those of the plain valid delivery\n');
    expect(explain('leaks/nowhere')).not.toContain('Bytes');
    expect(explain('rotation/after-next')).toContain('+ X-Service-Signature: [valid signature with the next secret]\n');
  });

  it('shows the bytes of every check that sends any, in at most about 20 lines of the width', () => {
    const display = { columns: 60, unicode: false };
    const shown = SCENARIOS.map((scenario) => ({ id: scenario.id, lines: sentBytes(scenario, display) }));
    const plain = [
      'valid/plain',
      'valid/buy-completed',
      'valid/error-data-null',
      'combination/both-right',
      'leaks/accepted-delivery',
      'rotation/both-old',
      'rotation/after-old',
      'rotation/after-replay',
    ];
    const sending = SCENARIOS.filter((scenario) => 'flow' in scenario || 'change' in scenario).map(({ id }) => id);
    const silent = shown.filter(({ lines }) => lines.length === 0).map(({ id }) => id);
    expect(sending.filter((id) => silent.includes(id))).toEqual(plain);
    expect(shown.filter(({ lines }) => lines.length > 24).map(({ id }) => id)).toEqual([]);
    const compared = shown.flatMap(({ lines }) => lines.filter((line) => /^[-+] /.test(line)));
    expect(compared.filter((line) => line.length > 60)).toEqual([]);
    expect(compared.filter((line) => /[\0-\x1f\x7f-\x9f]|[-+] .*\S $/.test(line))).toEqual([]);
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
