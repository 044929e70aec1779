import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogValues, type SentRequest, watchLogs } from '../../../harness/log/index.ts';
import { type Assembled, assemble } from '../../../harness/run/assemble.ts';
import { createKit } from '../../../harness/run/kit.ts';
import { CATALOGUE, type Change, LOG_LEAKS, LOG_RUN_OVER, type LogLeak } from '../../../scenarios/index.ts';
import { effectsLog } from '../../../scenarios/suites/effects-log.ts';
import { BEGIN_PRIVATE_KEY } from '../../certs/material.ts';
import { API_KEY, assembled, NOW, partnerAt, SECRET } from '../run/parts.ts';

const credentials = {
  secret: SECRET,
  apiKey: API_KEY,
  signatureHeader: 'X-Service-Signature',
  apiKeyHeader: 'X-API-Key',
};

function requestOf({ prepared, raw, value, rightSignature }: Assembled): SentRequest {
  return { ...prepared, raw, value, signatures: rightSignature === null ? [] : [rightSignature] };
}

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hookproof-log-'));
  file = join(folder, 'app.log');
  writeFileSync(file, `before the run ${SECRET}\n`);
});
afterEach(() => rmSync(folder, { recursive: true }));

const watch = (path = file) => watchLogs([path], credentials, { intervalMs: 3_600_000 });

/** Returns the leaks that are found in a log after these deliveries. Echoes are in brackets. */
async function leaksOf(log: string, ...sent: readonly Assembled[]): Promise<string[]> {
  const watched = await watch();
  for (const one of sent) watched.registerRequest(requestOf(one));
  appendFileSync(file, log);
  const { findings = [] } = await watched.finish();
  for (const { first } of findings) expect(first.text).not.toContain(SECRET);
  return findings.map(({ leak, isEcho }) => (isEcho ? `(${leak})` : leak)).toSorted();
}

const changeOf = (id: string): Change => {
  const scenario = CATALOGUE.flatMap(({ scenarios }) => scenarios).find((one) => one.id === id);
  return scenario !== undefined && 'change' in scenario ? scenario.change : {};
};
const inQuery: Change = {
  address: {
    label: 'in the query',
    make: (head) => ({ ...head, target: `${head.target}?api_key=${API_KEY}` }),
  },
};
const unsigned: Change = { sign: { label: 'no signature', make: () => undefined } };

describe('the findings of a log', () => {
  const plain = assembled();
  const forged = assembled(unsigned);
  const body = Buffer.from(plain.prepared.body).toString();
  const signature = plain.rightSignature ?? '';
  const block = `${BEGIN_PRIVATE_KEY}\n${randomBytes(96).toString('base64')}\n-----END PRIVATE KEY-----`;
  const data = JSON.parse(body).data.metadata.blockchainData;
  it.each<[string, string, string[]]>([
    ['nothing', 'POST /hooks 200\n', []],
    ['the secret', `settings: ${SECRET}\n`, ['secret']],
    ['the secret in base64, without a line end', `x ${Buffer.from(SECRET).toString('base64')}`, ['secret']],
    ['headers of pino', `${JSON.stringify({ headers: { 'x-api-key': API_KEY } })}\r\n`, ['api-key']],
    [
      'headers of Go',
      `map[X-Api-Key:[${API_KEY}] X-Service-Signature:[${signature}]]\n`,
      ['api-key', 'sent-signature'],
    ],
    ['an expected signature', `expected ${forged.rightSignature}, got none\n`, ['signature']],
    ['a private key', `${block}\n`, ['private-key']],
    ['a private key in JSON', `${JSON.stringify({ key: block })}\n`, ['private-key']],
    ['a masked private key', `${BEGIN_PRIVATE_KEY}\n[masked]\n-----END PRIVATE KEY-----\n`, []],
    ['a body', `${body}\n`, ['body']],
    ['a body in JSON', `${JSON.stringify({ msg: body })}\n`, ['body']],
    ['a body in base64', `${Buffer.from(body).toString('base64')}\n`, ['body']],
    ['a body in percent-encoding', `${encodeURIComponent(body)}\n`, ['body']],
    ['a parsed body over several lines', `${inspect(JSON.parse(body), { depth: null })}\n`, ['body']],
    ['a part of a body', `id=${JSON.parse(body).id} type=CAAS status=COMPLETED\n`, []],
    ['an address', `to ${data.targetWalletAddress}\n`, ['personal']],
    ['an address cut short', `to ${data.targetWalletAddress.slice(0, 20)}...\n`, []],
    ['a few characters of a key', `key ${API_KEY.slice(0, 7)}...\n`, []],
    ['a key cut short', `key ${API_KEY.slice(-10)}\n`, ['api-key-part']],
    ['a part of the secret', `starts with ${SECRET.slice(0, 12)}***\n`, ['secret-part']],
    [
      'a part of the secret in JSON in base64',
      Buffer.from(`{"s":"${SECRET.slice(0, 12)}"}`).toString('base64'),
      ['secret-part'],
    ],
    ['half of the secret', `starts with ${SECRET.slice(0, SECRET.length / 2 + 1)}***\n`, ['secret']],
  ])('are of %s', async (_, log, leaks) => {
    expect(await leaksOf(log, plain, forged)).toEqual(leaks);
  });

  it.each([
    ['letters', 'abcdefghijklmnopqrstuvwxyzabcdef'],
    ['digits', '31415926535897932384626433832795'],
    ['words', 'correct-horse-battery-staple-now'],
  ])('are of half of a secret that is only %s, and not of less', async (_, secret) => {
    const watched = await watchLogs([file], { ...credentials, secret }, { intervalMs: 3_600_000 });
    appendFileSync(file, `starts with ${secret.slice(0, 12)}***\n`);
    await watched.read();
    appendFileSync(file, `starts with ${secret.slice(0, 16)}***\n`);
    const { findings = [], sought } = await watched.finish();
    expect(findings.map(({ leak, lines }) => [leak, lines])).toEqual([['secret', 1]]);
    expect([sought.has('secret'), sought.has('secret-part')]).toEqual([true, false]);
  });

  const bearer = assembled(changeOf('api-key/in-authorization'));
  it.each<[string, string, Assembled]>([
    ['nginx', `127.0.0.1 - - "POST /hooks?api_key=${API_KEY} HTTP/1.1" 401 0\n`, assembled(inQuery)],
    ['pino', `${JSON.stringify({ req: { query: { api_key: API_KEY } } })}\n`, assembled(inQuery)],
    ['Python', `headers={'Authorization': 'Bearer ${API_KEY}'}\n`, bearer],
    ['Go', `map[Authorization:[Bearer ${API_KEY}]]\n`, bearer],
    ['Java', `{authorization=Bearer ${API_KEY}, host=x}\n`, bearer],
    [
      'PHP',
      `array(1) {\n  ["Api-Key"]=>\n  string(48) "${API_KEY}"\n}\n`,
      assembled(changeOf('api-key/in-other-header')),
    ],
    ['CGI', `{'HTTP_API_KEY': '${API_KEY}'}\n`, assembled(changeOf('api-key/in-other-header'))],
    [
      'a page of Django',
      `<td>HTTP_API_KEY</td>\n  <td class="code"><pre>&#x27;${API_KEY}&#x27;</pre></td>\n`,
      assembled(changeOf('api-key/in-other-header')),
    ],
    [
      'a query with the name of the header',
      `{"query":{"X-API-Key":"${API_KEY}"}}\nPOST /hooks?X-API-Key=${API_KEY}\n`,
      assembled({ address: { label: '', make: (head) => ({ ...head, target: `/?X-API-Key=${API_KEY}` }) } }),
    ],
  ])('are an echo of a key in a wrong place in a log of %s, and no other line is', async (_, log, sent) => {
    expect(await leaksOf(log, sent)).toEqual(['(api-key)']);
    writeFileSync(file, '');
    expect(await leaksOf(log)).toEqual(['api-key']);
    writeFileSync(file, '');
    expect(await leaksOf(`${log}{"headers":{"x-api-key":"${API_KEY}"}}\n`, sent)).toEqual(['(api-key)', 'api-key']);
  });

  it('are an echo of the secret in the signature header, and not next to another name', async () => {
    const sent = assembled(changeOf('signature/secret-itself'));
    expect(await leaksOf(`invalid signature, got ${SECRET}\n`, sent)).toEqual(['(secret)']);
    writeFileSync(file, '');
    expect(await leaksOf(`secret=${SECRET}\n`, sent)).toEqual(['secret']);
  });

  it('are no parts of values that hookproof itself sent', async () => {
    const half = assembled({
      address: {
        label: 'half of the key',
        make: (head) => ({ ...head, headers: [['X-API-Key', API_KEY.slice(0, 24)]] }),
      },
    });
    expect(await leaksOf(`unknown key ${API_KEY.slice(0, 24)}\n`, half)).toEqual(['(api-key)']);
    writeFileSync(file, '');
    expect(await leaksOf(`unknown key ${API_KEY.slice(0, 24)}\n`)).toEqual(['api-key']);
    writeFileSync(file, '');
    expect(await leaksOf(`suffix ${API_KEY.slice(-12)}\n`, half)).toEqual(['api-key-part']);
  });

  it.each<[string, string | null, string | null]>([
    [`config: { port: 1, hmacSecret: '${SECRET}' }`, 'hmacSecret', null],
    [`{"level":30,"hmac_secret":"${SECRET}"}`, 'hmac_secret', null],
    [`ANYMAIL =3D {'WEBHOOK_AUTHORIZATION': '${SECRET}'}`, 'WEBHOOK_AUTHORIZATION', null],
    [`array(1) { ["secret"]=> string(47) "${SECRET}" }`, 'secret', null],
    [`INFO app/hooks.py:17 secret_start=${SECRET.slice(0, 12)}`, 'secret_start', 'app/hooks.py:17'],
    [`Webhook secret: ${SECRET}`, null, null],
    [`Error: invalid (${SECRET})\n    at verify (file:///app/verify.mjs:12:7)`, null, '/app/verify.mjs:12'],
  ])('name what wrote the value, where the line says it: %#', async (log, name, source) => {
    const watched = await watch();
    appendFileSync(file, `${log}\n`);
    const { findings } = await watched.finish();
    expect(findings[0]?.first).toMatchObject({ name, source });
  });

  it('are of a sent signature that belongs to another delivery, also before that one is sent', async () => {
    const later = assembled();
    const sign = { label: 'of another delivery', make: () => later.rightSignature };
    const replayed = assembled({ sign } as Change);
    expect(await leaksOf(`got ${later.rightSignature}\n`, replayed, later)).toEqual(['sent-signature']);
  });

  it('are of a sent signature where the name of its header has underscores', async () => {
    const sent = assembled(changeOf('signature/in-underscore-name'));
    expect(await leaksOf(`{"X_Service_Signature":"${sent.rightSignature}"}\n`, sent)).toEqual(['sent-signature']);
  });

  it('mask a signature with its padding', async () => {
    const watched = await watch();
    watched.registerRequest(requestOf(forged));
    appendFileSync(file, `got ${forged.rightSignature}; expected none\n`);
    const { findings } = await watched.finish();
    expect(findings?.[0]?.first.text).toMatch(/^got \[the valid signature of [^\]]+\]; expected none$/);
  });

  it('mask an address on the line of a body with the body', async () => {
    const watched = await watch();
    watched.registerRequest(requestOf(plain));
    appendFileSync(file, `credited ${data.targetWalletAddress} for ${body} to ${data.targetWalletAddress}\n`);
    const { findings = [] } = await watched.finish();
    expect(findings.map(({ leak }) => leak)).toEqual(['body']);
    expect(findings[0]?.first.text).not.toContain(data.targetWalletAddress);
  });

  it('are no echo next to the secret, because settings have the names of parameters', async () => {
    const log = `{ path: '/hooks', secret: '${SECRET}', api_key: '${API_KEY}' }\n`;
    expect(await leaksOf(log, assembled(inQuery))).toEqual(['api-key', 'secret']);
  });

  it('are found behind many encoded values, each of which is looked at a few times only', async () => {
    const lines = Array.from(
      { length: 300 },
      () => `${'QUJD'.repeat(150)} ${Buffer.from(`k ${API_KEY}`).toString('base64')}\n`,
    );
    expect(await leaksOf(lines.join(''))).toEqual(['api-key']);
  });

  it('are no echo before the value was sent', async () => {
    const watched = await watch();
    appendFileSync(file, `api_key=${API_KEY}\n`);
    watched.registerRequest(requestOf(assembled(inQuery)));
    const { findings } = await watched.finish();
    expect(findings?.map(({ isEcho }) => isEcho)).toEqual([false]);
  });

  it('count lines from the start of the run, and show the first one masked', async () => {
    const watched = await watch();
    appendFileSync(file, `one\ntwo \u001b[31m key=${API_KEY} ${'x'.repeat(500)}\nkey=${API_KEY}\n`);
    const { findings } = await watched.finish();
    expect(findings).toMatchObject([{ leak: 'api-key', lines: 2, first: { line: 2 } }]);
    expect(findings?.[0]?.first.text).toMatch(/^two \\x1b\[31m key=\[the API key\] x+…$/);
  });
});

describe('a watched log', () => {
  it('is read on after it was emptied or renamed, and the renamed file too', async () => {
    const watched = await watch();
    truncateSync(file);
    appendFileSync(file, `secret ${SECRET}\n`);
    await watched.read();
    renameSync(file, `${file}.1`);
    appendFileSync(`${file}.1`, `key ${API_KEY}\n`);
    writeFileSync(file, `signature ${SECRET}\n`);
    const { findings } = await watched.finish();
    expect(findings).toMatchObject([
      { leak: 'secret', lines: 2 },
      { leak: 'api-key', lines: 1 },
    ]);
  });

  it('may come into being during the run', async () => {
    const watched = await watch(join(folder, 'later.log'));
    writeFileSync(join(folder, 'later.log'), `${SECRET}\n`);
    expect((await watched.finish()).findings).toHaveLength(1);
  });

  it('states for each file how much was written, and whether there was one', async () => {
    const watched = await watch();
    appendFileSync(file, 'a line\n');
    const missing = await watch(join(folder, 'missing.log'));
    expect([...(await watched.finish()).files, ...(await missing.finish()).files]).toEqual([
      { file, bytes: 7, isMissing: false, problem: null },
      { file: join(folder, 'missing.log'), bytes: 0, isMissing: true, problem: null },
    ]);
  });

  it('may have a value across two writes, in a line of megabytes', async () => {
    const watched = await watch();
    appendFileSync(file, `${'x'.repeat(1_000_000)} ${API_KEY.slice(0, 9)}`);
    await watched.read();
    appendFileSync(file, `${API_KEY.slice(9)} ${'y '.repeat(200_000)}`);
    expect((await watched.finish()).findings).toMatchObject([{ leak: 'api-key', lines: 1, first: { line: 1 } }]);
  });

  it('is a regular file', async () => {
    await expect(watch(folder)).rejects.toMatchObject({ code: 'LOG_NOT_A_FILE', kind: 'usage' });
    await expect(watch('/dev/null')).rejects.toMatchObject({ code: 'LOG_NOT_A_FILE' });
  });
});

describe('findMisplaced', () => {
  it('names each place of a credential in every delivery of the catalogue', () => {
    const values = new LogValues(credentials);
    const partner = partnerAt();
    const missed: string[] = [];
    const names = new Set<string>();
    for (const scenario of CATALOGUE.flatMap(({ scenarios }) => scenarios)) {
      const kit = createKit(partner, 'seed', scenario.id, NOW);
      const changes =
        'change' in scenario
          ? [scenario.change]
          : 'flow' in scenario
            ? scenario
                .flow(kit)
                .flat()
                .map((one) => one.change)
            : [];
      for (const change of changes) {
        const made = assemble(change, kit, partner);
        const places = values.findMisplaced(requestOf(made));
        for (const { name } of places) if (name !== undefined) names.add(name);
        const { target, headers } = made.prepared;
        const others = headers.filter(([name]) => !['x-api-key', 'x-service-signature'].includes(name.toLowerCase()));
        const rest = [target, ...others.map(([, value]) => value)].join('\n');
        if (rest.includes(API_KEY) && !places.some(({ value }) => value.leak === 'api-key')) missed.push(scenario.id);
        if (Object.keys(change).length === 0 && places.length > 0) missed.push(`${scenario.id}: plain`);
      }
    }
    expect(missed).toEqual([]);
    const expected = [
      'api_key',
      'key',
      'bearer',
      'authorization',
      'basic',
      'cookie',
      'signature',
      'x-hub-signature-256',
    ];
    expect([...names]).toEqual(expect.arrayContaining(expected));
  });
});

it('stops reading when the run is over, and says so', async () => {
  const over = new AbortController();
  const file = join(mkdtempSync(join(tmpdir(), 'log-')), 'log');
  writeFileSync(file, '');
  const names = { signatureHeader: 'X-S', apiKeyHeader: 'X-K' };
  const watched = await watchLogs([file], { secret: 'a secret of some length', ...names }, { signal: over.signal });
  writeFileSync(file, 'first line\n');
  await watched.read();
  over.abort();
  appendFileSync(file, 'x'.repeat(1_000_000));
  const { files } = await watched.finish();
  expect(files).toMatchObject([{ bytes: 11, problem: LOG_RUN_OVER }]);
});

describe('the scenarios of the log', () => {
  const RUN = { answerTimesMs: [], leaks: [], outages: [], failedControls: [] };
  it.each(effectsLog.map((one) => [one.id, one] as const))('%s', (_, scenario) => {
    const leaks = Object.keys(LOG_LEAKS) as LogLeak[];
    const first = { line: 1, text: '', name: null, source: null };
    const log = leaks.map((leak) => ({ leak, file: 'a', lines: 1, first, isEcho: false }));
    const expected = scenario.level === 'must' ? 'fail' : 'warn';
    expect(scenario.observe(RUN).verdict).toBe('inconclusive');
    expect(scenario.observe({ ...RUN, log: [] }).verdict).toBe('pass');
    expect(scenario.observe({ ...RUN, log }).verdict).toBe(expected);
    const echoes = log.map((one) => ({ ...one, isEcho: true }));
    expect(scenario.observe({ ...RUN, log: echoes })).toMatchObject({
      verdict: 'pass',
      reason: expect.stringContaining('1 line only repeats'),
    });
  });

  const [scenario] = effectsLog;
  const read = { file: 'app.log', bytes: 9, isMissing: false, problem: null };
  const empty = { ...read, bytes: 0 };
  it.each([
    ['nothing was written', [empty], '`--log app.log`: nothing was written during the run, expected at least one line'],
    ['a file is missing', [read, { ...empty, file: 'x', isMissing: true }], '`--log x`: there was no such file'],
    ['a file cannot be read', [{ ...read, problem: 'EACCES' }], 'to its end: check its permissions (EACCES)'],
    ['a file grows too fast', [{ ...read, problem: LOG_RUN_OVER }], 'it grew faster than it could be searched'],
  ])('have no verdict when %s, unless a value was found', (_, logFiles, reason) => {
    expect(scenario?.observe({ ...RUN, log: [], logFiles })).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringContaining(reason),
    });
    const first = { line: 1, text: '', name: null, source: null };
    const found = { leak: 'secret', file: 'app.log', lines: 1, first, isEcho: false } as const;
    expect(scenario?.observe({ ...RUN, log: [found], logFiles })).toMatchObject({ verdict: 'fail' });
  });

  it('do not apply to a value that the run did not have', async () => {
    const watched = await watchLogs([file], { ...credentials, secret: 'too short' });
    watched.registerRequest(requestOf(assembled()));
    const { sought } = await watched.finish();
    const verdicts = effectsLog.map(
      (one) => one.observe({ ...RUN, log: [], logFiles: [read], logSought: sought }).verdict,
    );
    const passed = effectsLog
      .filter((_, at) => verdicts[at] === 'pass')
      .map(({ id }) => id.replace('effects/log-', ''));
    expect(passed).toEqual([
      'secret',
      'api-key',
      'api-key-part',
      'sent-signature',
      'private-key',
      'bodies',
      'personal',
    ]);
  });

  it('pass with a note when one of several logs stays empty', () => {
    const logFiles = [read, { ...empty, file: 'error.log' }];
    expect(scenario?.observe({ ...RUN, log: [], logFiles })).toMatchObject({
      verdict: 'pass',
      reason: 'nothing was written to error.log during the run',
    });
  });
});
