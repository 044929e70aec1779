/** Partners write their own files, so the operator limits what these files can refer to and set. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readPartners } from '../../harness/cli/certify/partner-files.ts';
import { isSetBy, SETTINGS, type Setting } from '../../harness/config/settings.ts';

const SECRET = 'a-secret-of-the-partner-acme-0123456789';
let base = '';
let folder = '';

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'hookproof-partners-'));
  folder = join(base, 'partners');
  await mkdir(join(folder, 'secrets'), { recursive: true });
  await mkdir(join(folder, 'acme'));
  await mkdir(join(folder, 'globex'));
  await writeFile(join(folder, 'secrets', 'acme'), SECRET);
  await writeFile(join(folder, 'secrets', 'globex'), 'the-secret-of-another-partner');
  await writeFile(join(folder, 'globex', 'client.key'), 'the key of another partner');
  await writeFile(join(folder, 'acme', 'secret'), SECRET);
  await writeFile(join(folder, 'secrets', 'acme.secret'), SECRET);
  await writeFile(join(folder, 'acme.eu.yaml'), 'url: https://acme.eu.example/hooks\n');
  await mkdir(`${folder}-outside`);
  await mkdir(join(base, 'secrets'));
  for (const name of ['acme.api-key', 'globex', 'other']) await writeFile(join(base, 'secrets', name), SECRET);
  await writeFile(join(base, 'acme'), SECRET);
  await writeFile(join(`${folder}-outside`, 'acme'), 'outside');
  vi.stubEnv('HOOKPROOF_CERTIFY_KEY_PASSPHRASE', 'the-passphrase-of-the-signing-key');
  vi.stubEnv('PARTNER_ACME__SECRET', SECRET);
  vi.stubEnv('PARTNER_ACME_EU__SECRET', 'the-secret-of-another-partner');
  vi.stubEnv('GITHUB_TOKEN', 'the-token-of-the-job');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(base, { recursive: true, force: true });
});

const GOOD = 'url: https://acme.example/hooks\nprofile: staging\n';
const signed = (reference: string) => `${GOOD}hmac:\n  secret: \${${reference}}\n`;

/** Returns the configuration of the partner acme with this file, or why it is rejected. */
async function acme(text: string, files: Record<string, string> = {}) {
  for (const [name, content] of Object.entries({ 'acme.yaml': text, ...files })) {
    await writeFile(join(folder, name), content);
  }
  return readPartners(folder, {}, ['acme']).then(
    ({ members: [member], broken: [bad] }) =>
      bad?.problems.join('\n') ?? member?.config.partner.signing?.secret ?? 'no secret',
    (error: Error) => error.message,
  );
}

describe('the file of a partner', () => {
  it.each([
    'env:PARTNER_ACME__SECRET',
    'file:secrets/acme',
    'file:secrets/acme.secret',
    'file:acme/secret',
    'file:./acme/../acme/secret',
    'file:../secrets/acme.api-key',
  ])('refers to %s', async (reference) => {
    expect(await acme(signed(reference))).toBe(SECRET);
  });

  it.each([
    'env:HOOKPROOF_CERTIFY_KEY_PASSPHRASE',
    'env:GITHUB_TOKEN',
    'env:PARTNER_ACME_EU__SECRET',
    'env:PARTNER_ACME_SECRET',
    'env:PATH',
    'file:secrets/globex',
    'file:secrets/globex.secret',
    'file:secrets/acme.eu.secret',
    'file:secrets/acme-secret',
    'file:globex/client.key',
    'file:acme/../secrets/globex',
    'file:../outside',
    'file:../acme',
    'file:../secrets/globex',
    'file:../secrets/other',
    'file:../secrets/acme.leads-away',
    'file:/proc/self/environ',
    'file:/proc/self/fd/0',
    'file:/etc/passwd',
    'file:globex.yaml',
    'file:acme/leads-away',
    'file:acme/leads-to-globex',
    'file:leads-away/acme',
  ])('cannot refer to %s', async (reference) => {
    await symlink(join(`${folder}-outside`, 'acme'), join(folder, 'acme', 'leads-away'));
    await symlink('../secrets/globex', join(folder, 'acme', 'leads-to-globex'));
    await symlink('../acme', join(base, 'secrets', 'acme.leads-away'));
    await symlink(`${folder}-outside`, join(folder, 'leads-away'));
    const target = reference === 'file:../outside' ? `file:${folder}-outside/acme` : reference;
    const expected = `acme.yaml:4:11: hmac.secret: must not refer to `;
    expect(await acme(signed(target))).toContain(expected);
    const inHeader = await acme(`${GOOD}headers:\n  X-A: "Bearer \${${target}}"\n`);
    expect(inHeader).toContain('acme.yaml:4:8: headers.X-A: must not refer to ');
    const [kind = '', path = ''] = target.split(/:(.*)/s);
    if (kind !== 'file') return;
    const material = await acme(`${GOOD}tls:\n  client-cert: ${path}\n  client-key: ${path}\n  ca: ${path}\n`);
    for (const setting of ['client-cert', 'client-key', 'ca']) {
      expect(material).toContain(`tls.${setting}: must not refer to the file ${path}`);
    }
  });

  it('shows a line end in the name of a file, which could begin a command of a workflow', async () => {
    await writeFile(join(folder, 'x\n::error::y.yaml'), GOOD);
    expect((await acme(GOOD)).split('\n').filter((line) => line.startsWith('::'))).toEqual([]);
    expect(await acme(GOOD)).toContain('is not a valid name for a partner');
  });

  it('names the setting, the file and what to do', async () => {
    const refused = await acme(
      `${signed('env:GITHUB_TOKEN')}allow-private: [127.0.0.1]\nstrict: false\nreporters: [human]\n`,
    );
    expect(refused).toBe(
      [
        `${join(folder, 'acme.yaml')}:4:11: hmac.secret: must not refer to the environment variable GITHUB_TOKEN`,
        '    Rename the variable: those of this partner begin with PARTNER_ACME__, for example PARTNER_ACME__SECRET.',
        `${join(folder, 'acme.yaml')}:5:17: allow-private: cannot be set by a partner`,
        '    Remove it. The operator sets it with `--allow-private`.',
        `${join(folder, 'acme.yaml')}:6:9: strict: cannot be set by a partner`,
        '    Remove it. The operator sets it with `--strict`, or in the file of defaults.',
        `${join(folder, 'acme.yaml')}:7:13: reporters: cannot be set by a partner`,
        "    Remove it. A certificate covers all checks, and each partner's files go to a folder with its name.",
      ].join('\n'),
    );
  });

  it('does not refer to files of others by its name', async () => {
    const files = {
      'secrets.yaml': signed('file:secrets/acme'),
      'globex.yaml': GOOD,
      'acme.yaml': signed('file:acme/secret'),
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const { members, broken } = await readPartners(folder, {}, []);
    const problemsOf = (partner: string) => broken.find(({ name }) => name === partner)?.problems.join();
    expect(problemsOf('secrets')).toContain('must not refer to the file secrets/acme');
    // The other partners are still read.
    expect(members.map(({ name }) => name)).toEqual(['acme']);
  });

  it('does not share its variables with a partner whose name differs in punctuation', async () => {
    const same = { 'a.c_m--e.yaml': GOOD, 'A-C.M_E.yaml': GOOD };
    expect(await acme(signed('file:secrets/acme'), same)).toMatch(/differs from .* only in letter case or punctuation/);
  });
});

describe('the file of defaults', () => {
  it('is of the operator: it refers to other files and variables, and sets more', async () => {
    const lines = ['hmac:', `  secret: \${file:secrets/globex}`, 'headers:', `  X-A: \${env:GITHUB_TOKEN}`];
    const defaults = ['strict: true', 'revision: 2', ...lines, ''].join('\n');
    expect(await acme(GOOD, { '_defaults.yaml': defaults })).toBe('the-secret-of-another-partner');
  });

  it.each([
    ['allow-private: [127.0.0.1]', 'allow-private: cannot be set for all partners in a file'],
    ['output-dir: elsewhere', 'output-dir: cannot be set for all partners in a file'],
    ['baseline: known.yaml', 'baseline: cannot be set for all partners in a file'],
    [`headers: { X-A: "\${env:HOOKPROOF_SECRET}" }`, 'must not refer to the environment variable HOOKPROOF_SECRET'],
    [
      `headers: { X-A: "\${env:HOOKPROOF_CERTIFY_KEY}" }`,
      'must not refer to the environment variable HOOKPROOF_CERTIFY_KEY',
    ],
  ])('cannot have %s', async (line, refused) => {
    expect(await acme(signed('file:secrets/acme'), { '_defaults.yaml': `${line}\n` })).toContain(refused);
  });
});

it('every setting is decided: who sets it for one of many partners', () => {
  const paths = (some: readonly Setting[]) =>
    some.map(({ path }) => path).filter((path) => !/^mtls\.fixtures\./.test(path));
  const partner = SETTINGS.filter((one) => isSetBy('partner', one));
  const defaults = SETTINGS.filter((one) => isSetBy('defaults', one) && !partner.includes(one));
  const refused = SETTINGS.filter((one) => !isSetBy('defaults', one));
  expect(paths(partner)).toEqual([
    ...['url', 'hmac.secret', 'hmac.header', 'api-key.value', 'api-key.header', 'headers'],
    ...['transactions', 'customers', 'accounts', 'payment-methods', 'providers', 'fields'].map(
      (one) => `samples.${one}`,
    ),
    ...['tls.client-cert', 'tls.client-key', 'tls.passphrase', 'tls.ca'],
    ...['profile', 'effects.url', 'effects.token', 'effects.deadline', 'effects.decimals'],
    ...['concurrency', 'timeout', 'recovery', 'max-time', 'stack', 'operate.notices.url', 'operate.notices.secret'],
  ]);
  expect(paths(defaults)).toEqual([
    ...['scheme', 'samples.deliveries', 'revision', 'max-rate', 'wait', 'seed', 'strict', 'evidence', 'evidence-level'],
    ...['recheck-every', 'certify-before', 'quiet-hours', 'time-zone', 'per-host', 'retry-after'].map(
      (one) => `operate.${one}`,
    ),
  ]);
  expect(paths(refused)).toEqual([
    ...[
      'hmac.next-secret',
      'open',
      'effects-command',
      'restart-command',
      'rotate-command',
      'command-env',
      'log',
      'suites',
      'scenarios',
      'grep',
      'allow-private',
      'baseline',
    ],
    ...['bail', 'shard', 'code', 'reporters', 'output-dir'],
  ]);
});
