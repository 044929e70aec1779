/**
 * Where notices are sent: to the operator as configured in the defaults, and to the partner as configured in its file.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { noticesOfPartner } from '../../../harness/cli/certify/partner-files.ts';
import { collectConfig } from '../../../harness/config/index.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-notices-'));
  await mkdir(join(folder, 'secrets'));
  const notices = (url: string, secret: string) =>
    `operate:\n  notices:\n    url: ${url}\n    secret: \${file:secrets/${secret}}\n`;
  const acme = notices('https://acme.example/notices?token=abcdef0123456789', 'acme');
  const files: Record<string, string> = {
    '_defaults.yaml': `profile: staging\n${notices('https://operator.example/', 'operator')}`,
    'acme.yaml': `url: https://acme.example/\n${acme}`,
    'broken.yaml': 'url: [1]\n',
    'thief.yaml': `url: https://thief.example/\n${notices('https://thief.example/', 'acme')}`,
    'secrets/operator': 'the-secret-of-the-operator-in-this-test\n',
    'secrets/acme': 'the-secret-of-acme-in-this-test-000000\n',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const OPERATOR = { url: 'https://operator.example/', secret: 'the-secret-of-the-operator-in-this-test' };

it('the file of a partner names where the partner is notified, the defaults where the operator is', async () => {
  const { notices, secrets } = await noticesOfPartner(folder, 'acme');
  const url = 'https://acme.example/notices?token=abcdef0123456789';
  expect(notices).toEqual({ operator: OPERATOR, partner: { url, secret: 'the-secret-of-acme-in-this-test-000000' } });
  expect(secrets).toEqual(expect.arrayContaining([OPERATOR.secret, 'abcdef0123456789']));
});

it('the operator is notified of a partner whose file is broken or gone, and of one that takes a secret', async () => {
  for (const name of ['broken', 'gone', 'thief']) {
    expect((await noticesOfPartner(folder, name)).notices).toEqual({ operator: OPERATOR, partner: null });
  }
});

it.each([
  [`url: https://u:p@a.example/\n    secret: \${env:S}`, 'is not an http or https URL without credentials'],
  [`url: ftp://a.example/\n    secret: \${env:S}`, 'is not an http or https URL without credentials'],
  ['url: https://a.example/', 'there is no secret to sign notices with'],
  [`secret: \${env:S}`, 'there is no URL for notices'],
  ['url: https://a.example/\n    secret: plain-text', 'a secret must not be written into this file'],
])('%j is a problem', async (lines, message) => {
  const file = join(folder, 'alone.yml');
  await writeFile(file, `url: https://a.example/\noperate:\n  notices:\n    ${lines}\n`);
  const { problems } = await collectConfig({
    flags: {},
    env: { S: 'a-secret-of-this-test-for-notices-0000' },
    cwd: folder,
    configFile: file,
  });
  expect(problems.map((problem) => problem.message).join('\n')).toContain(message);
});
