import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resultDocument } from '../../harness/report/result-document.ts';
import { lacks } from '../setup/programs.ts';
import { hookproof } from './hookproof.ts';

describe.skipIf(lacks('python3'))('a correct receiver in Python', () => {
  const env = {
    HOOKPROOF_SECRET: randomBytes(32).toString('base64'),
    HOOKPROOF_API_KEY: randomBytes(24).toString('base64url'),
  };
  let python: ChildProcess;
  let url = '';

  beforeAll(async () => {
    const script = new URL('../endpoints/python_receiver.py', import.meta.url).pathname;
    python = spawn('python3', [script], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(python.stdout ?? python, 'data');
    url = `http://127.0.0.1:${String(line).trim()}/hooks`;
  });
  afterAll(() => void python.kill('SIGKILL'));

  it('passes: every check is judged, none fails or is inconclusive', async () => {
    const { code, stdout, stderr } = await hookproof(['run', url, '--reporter', 'json=-'], { env });
    const document = resultDocument.parse(JSON.parse(stdout));
    const bad = document.results
      // It is served over plain HTTP, so TLS checks do not apply.
      .filter(({ suite, verdict }) => verdict !== (suite === 'tls' || suite === 'mtls' ? 'not-applicable' : 'pass'))
      .filter(({ verdict }) => verdict !== 'warn')
      .map(({ id, verdict, reason }) => ({ id, verdict, reason }));
    expect({ code, verdict: document.verdict, bad, judged: document.judged }).toEqual({
      code: 0,
      verdict: 'conformant',
      bad: [],
      judged: document.planned,
    });
    // Every warning is about what the HTTP parser of the standard library accepts.
    expect(document.results.filter(({ verdict, suite }) => verdict === 'warn' && suite !== 'http')).toEqual([]);
    expect(stderr).not.toContain(env.HOOKPROOF_SECRET);
  });

  it('fails with another secret', async () => {
    const { code, stdout } = await hookproof(['run', url], {
      env: { ...env, HOOKPROOF_SECRET: randomBytes(32).toString('base64') },
    });
    expect(code).toBe(1);
    expect(stdout).toContain('rejects a delivery with valid credentials');
  });
});
