/** Nothing is sent to a public host by mistake: the configuration names it, or the user confirms it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lacks } from '../setup/programs.ts';
import { hookproof } from './hookproof.ts';
import { inTerminal } from './in-terminal.ts';

/** A public address that is not assigned to anyone (IANA: 4000::/3). */
const PUBLIC = 'https://[4000::1]/hooks';
/** A host that counts as public, because it may resolve later. A delivery to it fails at the lookup. */
const NOWHERE = 'http://hooks.invalid/in';
const env = { HOOKPROOF_SECRET: 'made-for-this-test-and-nothing-else' };
let cwd = '';

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-confirm-'));
  await writeFile(join(cwd, 'named.yaml'), `url: ${NOWHERE}\ntimeout: 1s\n`);
  await writeFile(join(cwd, 'other.yaml'), 'url: https://other.invalid/in\n');
  await hookproof(['certify', 'keygen', 'operator.pem'], { cwd });
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** Returns how many requests `--dry-run` plans for these arguments. */
async function planned(...args: string[]): Promise<string> {
  const { stdout } = await hookproof(['run', ...args, '--dry-run', '--json'], { cwd, env });
  return Number(JSON.parse(stdout).requests.about).toLocaleString('en');
}

describe('without a terminal', () => {
  it.each([
    ['run', ['run', PUBLIC], /about \d,\d{3} test notifications to \[4000::1\]/],
    ['run with the URL in a variable', ['run'], /about \d,\d{3} test notifications to \[4000::1\]/],
    ['run of one check', ['run', PUBLIC, '--scenario', 'valid/plain'], /about \d test notifications to \[4000::1\]/],
    ['trigger', ['trigger', 'buy', PUBLIC], /sends 1 test notification to \[4000::1\]/],
    ['trigger of a flow', ['trigger', 'failed-external-sell', PUBLIC], /sends 2 test notifications to/],
    [
      'certify',
      ['certify', PUBLIC, '--profile', 'staging', '--key', 'operator.pem'],
      /about \d,\d{3} test notifications/,
    ],
    ['baseline update', ['baseline', 'update', 'known.yaml', PUBLIC], /about \d,\d{3} test notifications/],
    ['a host that another file names', ['run', NOWHERE, '--config', 'other.yaml'], /to hooks\.invalid, which must be/],
  ])('%s needs the configuration or --yes', async (_, args, says) => {
    const given = args.length === 1 ? { ...env, HOOKPROOF_URL: PUBLIC } : env;
    const { code, stderr, stdout } = await hookproof(args, { cwd, env: given });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^hookproof: nothing was sent: this sends /);
    expect(stderr).toMatch(says);
    expect(stderr).toContain('Set `url` in hookproof.yaml (`hookproof init` creates one), or give `--yes`.');
    expect(stderr).toContain('(SEND_NOT_CONFIRMED)');
  });

  it('states the planned number', async () => {
    const { stderr } = await hookproof(['run', PUBLIC, '--suite', 'valid'], { cwd, env });
    expect(stderr).toContain(
      `sends about ${await planned(PUBLIC, '--suite', 'valid')} test notifications to [4000::1],`,
    );
  });

  it.each([
    ['--yes', ['trigger', 'buy', NOWHERE, '--timeout', '1s', '--yes'], 3],
    ['the configuration file', ['trigger', 'buy', '--config', 'named.yaml'], 3],
    ['the file, for another path of the host', ['trigger', 'buy', `${NOWHERE}/2`, '--config', 'named.yaml'], 3],
    ['--dry-run', ['run', PUBLIC, '--dry-run'], 0],
    ['a host of this machine', ['trigger', 'buy', 'http://127.0.0.1:9/'], 3],
    ['a name of this machine', ['trigger', 'buy', 'http://localhost:9/'], 3],
  ])('is not needed with %s', async (_, args, code) => {
    const result = await hookproof(args, { cwd, env });
    expect([result.code, result.stderr.includes('SEND_NOT_CONFIRMED')]).toEqual([code, false]);
  });
});

describe.skipIf(lacks('python3'))('on a terminal', () => {
  const question = 'a host that the configuration does not name. Continue? [y/N] ';

  it('asks once with the planned number, and sends nothing without a yes', async () => {
    for (const typed of ['n\n', '\n', '\u0003', '\u0004']) {
      const { code, screen } = await inTerminal(['run', PUBLIC], { columns: 200, typed, env });
      expect([code, screen.split('[y/N]').length - 1]).toEqual([2, 1]);
      expect(screen).toContain(
        `This sends about ${await planned(PUBLIC)} test notifications to [4000::1], ${question}`,
      );
      expect(screen).toContain('nothing was sent');
    }
  });

  it('sends after a yes', async () => {
    const args = ['trigger', 'buy', NOWHERE, '--timeout', '1s'];
    const { code, screen } = await inTerminal(args, { columns: 200, typed: 'y\n', env });
    expect(screen).toContain(`This sends 1 test notification to hooks.invalid, ${question}`);
    expect([code, screen.includes('no answer after')]).toEqual([3, true]);
  });

  it.each([[[NOWHERE, '--timeout', '1s', '--yes']], [['http://127.0.0.1:9/']]])('does not ask for %j', async (args) => {
    const { code, screen } = await inTerminal(['trigger', 'buy', ...args], { columns: 200, env });
    expect([code, screen.includes('[y/N]')]).toEqual([3, false]);
  });
});
