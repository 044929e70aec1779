import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Partner } from '../../harness/partner.ts';
import { type Assembled, assemble } from '../../harness/run/assemble.ts';
import { createKit } from '../../harness/run/kit.ts';
import { createLane } from '../../harness/run/lane.ts';
import { curlScript } from '../../harness/run/reproduce.ts';
import { CATALOGUE, type ProbeScenario } from '../../scenarios/index.ts';
import { lacks } from '../setup/programs.ts';
import { inTurn } from '../setup/turn.ts';
import { type Recorded, recording } from './recording.ts';

const PROBES = CATALOGUE.flatMap(({ scenarios }) => scenarios).filter(
  (one): one is ProbeScenario => 'change' in one && one.change.connect === undefined,
);
/** Each worker has its own endpoint, so that the order of its requests is known. */
const WORKERS = 4;

const SECRET = randomBytes(32).toString('base64');
const API_KEY = randomBytes(24).toString('base64url');
const env = { ...process.env, HOOKPROOF_SECRET: SECRET, HOOKPROOF_API_KEY: API_KEY, http_proxy: '', HTTP_PROXY: '' };

const partnerAt = (url: string): Partner => ({
  url: `${url}?tenant=7`,
  signing: { secret: SECRET },
  apiKey: { value: API_KEY },
  headers: [['X-Tenant', 'acme "& sons" $5']],
});

function assembled(scenario: ProbeScenario, partner: Partner): Assembled {
  return assemble(scenario.change, createKit(partner, 'seed', scenario.id, new Date()), partner);
}

function bash(script: string, cwd: string, url: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      'bash',
      ['-c', script],
      { env: { ...env, HOOKPROOF_URL: url, TMPDIR: cwd }, timeout: 120_000 },
      (_error, stdout, stderr) => resolve(`${stdout}${stderr}`),
    );
  });
}

/** Headers in which curl and the harness may differ. */
const OWN = /^(host|user-agent|accept|connection|content-length)$/i;

function comparable(request: Recorded | undefined) {
  if (request === undefined) return 'no request';
  const { method, target, headers, body } = request;
  const lines = headers.filter(([name]) => !OWN.test(name)).map(([name, value]) => `${name}: ${value}`);
  return { method, target, headers: lines.toSorted(), body: body.toString('base64') };
}

/** Sends a probe both ways and returns the difference. Null if there is none, and "none" if the probe has no script. */
async function differenceOf(scenario: ProbeScenario, endpoint: Awaited<ReturnType<typeof recording>>, cwd: string) {
  const partner = partnerAt(endpoint.url);
  const request = assembled(scenario, partner);
  const script = curlScript(request, partner);
  if (script === null) return 'none';
  endpoint.requests.length = 0;
  const lane = createLane(partner, { timeoutMs: 5000 });
  await lane.send(request, { fresh: true });
  lane.close();
  const said = await bash(script, cwd, partner.url);
  const [harness, curl] = endpoint.requests.map(comparable);
  if (JSON.stringify(harness) === JSON.stringify(curl) && endpoint.requests.length === 2) return null;
  return { id: scenario.id, harness, curl: curl ?? said, script };
}

describe.skipIf(lacks('bash', 'curl', 'openssl', 'xxd', 'python3'))('the curl script of a probe', () => {
  let cwd = '';
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'hookproof-'));
  });
  afterAll(() => rm(cwd, { recursive: true, force: true }));

  it('sends the same request as the harness, for every probe that has one', async () => {
    const played = inTurn(PROBES, 4);
    const queue = [...played];
    const differences: unknown[] = [];
    let scripts = 0;
    const work = async () => {
      const endpoint = await recording();
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const difference = await differenceOf(next, endpoint, cwd);
        if (difference !== 'none') scripts++;
        if (difference !== 'none' && difference !== null) differences.push(difference);
      }
      await endpoint.close();
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    expect(differences).toEqual([]);
    process.stderr.write(`reproduction scripts: ${scripts} of ${played.length} probes\n`);
    expect(scripts).toBeGreaterThan(played.length / 2);
  });

  it('differs from one that sends something else', async () => {
    const endpoint = await recording();
    const partner = partnerAt(endpoint.url);
    const [plain] = PROBES;
    const script = curlScript(assembled(plain!, partner), partner) ?? '';
    await bash(script, cwd, partner.url);
    await bash(script.replace('X-Tenant', 'X-Other'), cwd, partner.url);
    await endpoint.close();
    const [first, second] = endpoint.requests.map(comparable);
    expect(first).not.toEqual(second);
  });
});

describe('a curl script', () => {
  const partner = partnerAt('http://127.0.0.1:9/hooks');
  const scripts = PROBES.map((scenario) => ({ scenario, request: assembled(scenario, partner) })).map(
    ({ scenario, request }) => ({ id: scenario.id, request, script: curlScript(request, partner) }),
  );

  it('contains neither secret nor key nor valid signature, in any encoding', () => {
    const leaking = scripts.filter(({ request, script }) => {
      const digest = Buffer.from(request.rightSignature ?? '', 'base64');
      const told = [SECRET, API_KEY, digest.toString('base64'), digest.toString('hex'), digest.toString('base64url')];
      const text = script ?? '';
      const decoded = [...text.matchAll(/'([A-Za-z0-9+/]{16,}=*)'/g)].map(([, word = '']) =>
        Buffer.from(word, 'base64'),
      );
      return [text, ...decoded.map(String)].some((shown) => told.some((value) => shown.includes(value)));
    });
    expect(leaking.map(({ id }) => id)).toEqual([]);
  });

  it('takes the query of the URL from a variable', () => {
    expect(scripts.filter(({ script }) => script?.includes('tenant=7'))).toEqual([]);
  });

  it('exists for most probes', () => {
    expect(scripts.filter(({ script }) => script !== null).length / PROBES.length).toBeGreaterThan(0.84);
  });

  it('does not exist for what curl cannot send, or for a body that contains a credential', () => {
    const without = new Set(scripts.filter(({ script }) => script === null).map(({ id }) => id));
    const raw = PROBES.filter(({ change }) => change.transmit !== undefined && change.transmit.kind !== 'chunked');
    expect(raw.filter(({ id }) => !without.has(id))).toEqual([]);
    expect([...without]).toContain('api-key/in-body-without-header');
  });
});
