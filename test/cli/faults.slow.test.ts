import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeFor, MISTAKES } from '../../contract/mistakes/index.ts';
import { explainFault } from '../../harness/cli/commands/explain.ts';
import { loadDictionary } from '../../harness/diagnose/index.ts';
import { FAULTS } from '../../mutants/index.ts';
import { hookproof } from './hookproof.ts';
import { endReceivers, startedReceiver } from './receivers.ts';

const env = {
  HOOKPROOF_SECRET: randomBytes(32).toString('base64'),
  HOOKPROOF_API_KEY: randomBytes(24).toString('base64url'),
};
let cwd = '';
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'hookproof-'));
});
afterAll(async () => {
  endReceivers();
  await rm(cwd, { recursive: true });
});

describe('receiver --fault', () => {
  it('serves the mutant and prints a warning; a run reports the fault with the fix for the stack', async () => {
    const { url, stop, output } = await startedReceiver(['--fault', 'missing-signature-accepted'], { env, cwd });
    const { stderr } = output();
    expect(stderr).toContain('WARNING: this receiver is faulty on purpose');
    expect(stderr).toContain('Never deploy it');
    const suites = ['--suite', 'signature', '--suite', 'valid', '--stack', 'express'];
    const { code, stdout } = await hookproof(['run', url, ...suites], { env });
    await stop();
    expect(code).toBe(1);
    const [, rest = ''] = stdout.split('Causes');
    // A selection of checks shows only the mistake, not the mutant.
    const mistake = 'absent-signature-passes';
    const { fix, title } = MISTAKES[mistake];
    expect(rest.replace(/\s+/g, ' ')).toContain(title);
    expect(rest).toMatch(new RegExp(`${mistake}, shown by \\d+ checks`));
    expect(rest.replace(/\s+/g, ' ')).toContain(`${fix.rule} ${codeFor(fix, 'express')}`);
  });

  it('writes what a mutant of the log logs to standard output, which a run with --log reads', async () => {
    const { child, url, stop } = await startedReceiver(['--fault', 'logs-secret-on-rejection'], { env, cwd });
    const log = join(cwd, 'receiver.log');
    child.stdout?.on('data', (data) => appendFileSync(log, data));
    const suites = ['--suite', 'valid', '--suite', 'signature', '--suite', 'effects'];
    const { code, stdout } = await hookproof(['run', url, ...suites, '--log', log], { env });
    await stop();
    expect(code).toBe(1);
    expect(stdout).toContain('effects/log-secret');
    expect(stdout).toContain('secret-in-log');
    expect(stdout).not.toContain(env.HOOKPROOF_SECRET);
  });

  it('prints no warning without a fault; a run reports none', async () => {
    const { url, stop, output } = await startedReceiver([], { env, cwd });
    const { code, stdout } = await hookproof(['run', url, '--suite', 'signature'], { env });
    await stop();
    expect({ code, warned: output().stderr.includes('WARNING') }).toEqual({ code: 0, warned: false });
    expect(stdout).not.toContain('Causes');
  });

  it('serves its own faulty certificate; a run reports it', async () => {
    const ca = join(cwd, 'fault-ca.pem');
    const args = ['--fault', 'serves-expired-certificate', '--tls-quick-start-ca', ca];
    const { url, stop } = await startedReceiver(args, { env, cwd });
    const { code, stdout } = await hookproof(['run', url.replace('127.0.0.1', 'localhost'), '--ca', ca], { env });
    await stop();
    expect({ code, named: stdout.includes('serves-expired-certificate, ') }).toEqual({ code: 1, named: true });
  });

  it.each([
    ['an unknown name', ['--fault', 'missing-signature'], 'missing-signature-accepted'],
    ['a fault of TLS over plain HTTP', ['--fault', 'speaks-tls-1-0'], 'speaks-tls-1-0 needs HTTPS'],
    [
      'a certificate for a fault that has its own',
      ['--fault', 'serves-expired-certificate', '--tls-cert', 'a', '--tls-key', 'b'],
      'serves its own certificate',
    ],
  ])('rejects %s', async (_, args, says) => {
    const { code, stdout, stderr } = await hookproof(['receiver', '--port', '0', ...args], { env, cwd });
    expect({ code, stdout, says: stderr.includes(says) }).toEqual({ code: 2, stdout: '', says: true });
  });

  it('rejects a fault of a check that is not configured', async () => {
    const { HOOKPROOF_API_KEY: _, ...secretOnly } = env;
    const { code, stderr } = await hookproof(['receiver', '--port', '0', '--fault', 'api-key-not-checked'], {
      env: secretOnly,
      cwd,
    });
    expect({ code, says: stderr.includes('api-key-not-checked needs an API key') }).toEqual({ code: 2, says: true });
  });
});

describe('known faults', () => {
  it('are listed as text and as JSON', async () => {
    const names = FAULTS.map(({ name }) => name).toSorted();
    const { code, stdout, stderr } = await hookproof(['list', '--what', 'faults']);
    expect({
      code,
      listed: stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(' ')[0])
        .toSorted(),
    }).toEqual({ code: 0, listed: names });
    expect(stderr).toContain(`${names.length} faults`);
    const { items } = JSON.parse((await hookproof(['list', '--what', 'faults', '--json'])).stdout);
    expect(items[0]).toMatchObject({
      name: expect.any(String),
      severity: expect.any(String),
      failedBy: expect.any(Array),
    });
  });

  it('are explained with the scenarios that show them and the fix for each stack', async () => {
    const { code, stdout, stderr } = await hookproof(['explain', 'verifies-reserialised-json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const words of [
      'Severity    high',
      'Seen  ',
      'Why  ',
      'Fix  ',
      'flask     Use',
      'Shown by    ',
      'hookproof receiver --fault',
    ])
      expect(stdout).toContain(words);
    const rails = (await hookproof(['explain', 'verifies-reserialised-json', '--stack', 'rails'])).stdout;
    expect([rails.includes('rails     '), rails.includes('flask     ')]).toEqual([true, false]);
  });

  it('are all explained without an empty field', async () => {
    const { faults } = await loadDictionary();
    const texts = faults.map((fault) => explainFault(fault, faults, null));
    expect(
      texts.filter((text) => /^ *(?:Kind|Severity|Seen|Why|Fix|Shown by|Same as|Try it|undefined)\s*$/m.test(text)),
    ).toEqual([]);
    expect(texts.filter((text) => /: undefined$/m.test(text))).toEqual([]);
  });

  it.each([
    [['explain', 'verifies-reserialized-json'], 'verifies-reserialised-json'],
    [['explain', 'verifies-reserialised-json', '--stack', 'ralis'], 'Did you mean "rails"?'],
    [['run', 'http://127.0.0.1:9/', '--stack', 'ralis'], 'did you mean "rails"?'],
  ])('%j suggests the correct name', async (args, says) => {
    const { code, stdout, stderr } = await hookproof(args);
    expect({ code, stdout, says: stderr.includes(says) }).toEqual({ code: 2, stdout: '', says: true });
  });
});
