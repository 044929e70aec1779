/** The tools of `hookproof mcp`, each with its answer and an error, and the sizes of the answers. */
import { randomBytes } from 'node:crypto';
import { readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Endpoint, freePort, serve } from '../endpoints/listen.ts';
import { hmacOf, verifying } from '../endpoints/verifying.ts';
import { markdownTable } from '../setup/markdown-table.ts';
import { codeOf, type StartedMcp, startedMcp, type ToolAnswer } from './mcp-client.ts';

const SECRET = randomBytes(32).toString('base64');

/** True if the receiver verifies the parsed body instead of the bytes. */
let isFaulty = true;
let receiver: Endpoint;
let mcp: StartedMcp;

beforeAll(async () => {
  receiver = await serve(
    verifying((body) => hmacOf(SECRET, isFaulty ? JSON.stringify(JSON.parse(`${body}`)) : body).toString('base64')),
  );
  mcp = await startedMcp({ env: { HOOKPROOF_SECRET: SECRET, HOOKPROOF_URL: receiver.url } });
});
afterAll(async () => {
  await mcp.close();
  await receiver.close();
  const rows = mcp.answers.map(({ tool, shown, bytes, isError }) => [
    tool,
    shown.length > 60 ? `${shown.slice(0, 60)}…` : shown,
    isError ? 'error' : '',
    bytes,
  ]);
  console.log(markdownTable(['tool', 'arguments', '', 'bytes'], rows));
});

const call = (tool: string, given?: object): Promise<ToolAnswer> => mcp.call(tool, given);

interface Cause {
  readonly cause: number;
  readonly kind: string;
  readonly fault: string | null;
  readonly fix: string;
  readonly checks: readonly { readonly id: string }[];
  readonly moreChecks: number;
}
const causesOf = ({ data }: ToolAnswer) => data!.causes as readonly Cause[];

describe('the tools', () => {
  it('refuse unknown arguments, and take no secret and no file', async () => {
    const { tools } = await mcp.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['run', 'run_failed', 'details', 'explain', 'verify', 'list', 'doctor'],
    ]);
    for (const { inputSchema, outputSchema } of tools) {
      expect(inputSchema).toMatchObject({ additionalProperties: false });
      expect(outputSchema).toBeDefined();
      const names = Object.keys(inputSchema.properties ?? {});
      expect(names.filter((name) => /secret|key|token|file|config|output|report/i.test(name))).toEqual([]);
    }
  });

  it.each([
    ['run', { secret: 'x' }],
    ['run', { config: 'other.yaml' }],
    ['run', { concurrency: 0 }],
    ['run_failed', { apiKey: 'x' }],
    ['verify', { body: '', signature: '', secret: 'x' }],
    ['doctor', { secretFile: '/etc/hostname' }],
    ['explain', { id: 'signature/missing', extra: 1 }],
    ['list', { what: 'files' }],
  ])('%s with %j is an error', async (tool, given) => {
    const { isError, text } = await call(tool, given);
    expect(isError).toBe(true);
    expect(text).toContain('Invalid arguments');
  });
});

describe('a faulty receiver', () => {
  it('is found by a whole run, which tells its progress', async () => {
    const steps: number[] = [];
    const answer = await mcp.call('run', {}, { onprogress: ({ progress }) => steps.push(progress) });
    expect(answer.data).toMatchObject({ run: 'r1', url: receiver.url, verdict: 'nonconformant', partial: false });
    expect(answer.text).toMatch(/^NOT CONFORMANT: http:\/\/127/);
    const [main] = causesOf(answer);
    expect(main).toMatchObject({ cause: 1, kind: 'failure', fault: 'verifies-reserialised-json' });
    expect(main!.checks).toHaveLength(5);
    expect(main!.moreChecks).toBeGreaterThan(10);
    expect(answer.text).toContain(`and ${main!.moreChecks} more`);
    expect(answer.text).toContain(main!.fix);
    expect(steps.length).toBeGreaterThan(10);
    expect(steps).toEqual(steps.toSorted((one, other) => one - other));
  });

  it('has details: a cause with all its checks, page by page', async () => {
    const ids: string[] = [];
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { data, text } = await call('details', { run: 'r1', cause: 1, page });
      pages = data!.pages as number;
      ids.push(...(data!.checks as { id: string }[]).map(({ id }) => id));
      if (page < pages) expect(text).toContain(`left out: the same call with page ${page + 1}`);
    }
    const summary = await call('details', { run: 'r1' });
    const [main] = causesOf(summary);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(5 + main!.moreChecks);
  });

  it('has details: one check with what was sent and answered, and a script without the secret', async () => {
    const { data, text } = await call('details', { run: 'r1', check: 'raw-body/spaces', maxBytes: 30_000 });
    expect(data).toMatchObject({ check: 'raw-body/spaces', verdict: 'fail', pages: 1, leftOut: 0 });
    const parts = data!.parts as { part: string; response?: object }[];
    expect(parts.map(({ part }) => part)).toEqual(['probe', 'facts', 'curl', 'control', 'control']);
    expect(parts[0]).toMatchObject({ response: { status: 401, body: { untrusted: '2 bytes: {}' } } });
    expect(text).toContain('$HOOKPROOF_SECRET');
    const first = await call('details', { check: 'raw-body/spaces' });
    expect(first.data).toMatchObject({ page: 1 });
    expect(first.data!.pages).toBeGreaterThan(1);
  });

  it('shows on the first page what was sent, whole, and the answer', async () => {
    const { data } = await call('details', { check: 'raw-body/spaces' });
    const [exchange] = data!.parts as { request: { body: string }; response: { status: number } }[];
    expect(exchange!.response.status).toBe(401);
    const [, length = '', body = ''] = /^(\d+) bytes: ([\s\S]*)$/.exec(exchange!.request.body) ?? [];
    expect(Buffer.byteLength(body)).toBe(Number(length));
    expect(JSON.parse(body)).toMatchObject({ data: {} });
  });

  it('is known to a server that was started later', async () => {
    const other = await startedMcp({ env: { HOOKPROOF_SECRET: SECRET, HOOKPROOF_URL: receiver.url } });
    const { data, text } = await other.call('run_failed');
    const [main] = causesOf(await call('details', { run: 'r1' }));
    expect(data).toMatchObject({ run: 'r1', partial: true });
    expect(text).toMatch(/^1\. failure: .*, as in run r0 \(verifies-reserialised-json, matches/m);
    expect((data!.counts as { fail: number }).fail).toBeGreaterThan(10);
    expect(causesOf(await other.call('details', { run: 'r0' }))[0]).toMatchObject({ fault: main!.fault });
    await other.close();
  });

  it('is corrected: run_failed repeats what failed, as a partial run without a verdict', async () => {
    isFaulty = false;
    const answer = await call('run_failed');
    expect(answer.data).toMatchObject({ run: 'r2', verdict: null, partial: true, counts: { fail: 0 } });
    expect(answer.text).toMatch(/^\d+ of \d+ checks run, (?:all passed|none failed) \(partial run, no verdict\)/);
    expect(answer.text).toContain('only a run of the whole catalogue gives a verdict');
    const warned = await call('run_failed');
    expect(warned.text).toContain('No check had failed: these are the checks with warnings.');
    expect(warned.data).toMatchObject({ partial: true, counts: { fail: 0 } });
  });

  it('passes a selection without a verdict', async () => {
    const answer = await call('run', { suites: ['signature'], grep: ['missing'] });
    expect(answer.data).toMatchObject({ verdict: null, partial: true });
    expect(answer.text).toContain('partial run, no verdict');
    expect(answer.text).not.toMatch(/^CONFORMANT/m);
  });
});

describe('errors', () => {
  it.each([
    ['run', { suites: ['signatur'] }, 'PLAN_UNKNOWN_NAME'],
    ['run', { scenarios: ['no/such-check'] }, 'PLAN_UNKNOWN_NAME'],
    ['run', { suites: ['tls'], grep: ['raw-body'] }, 'PLAN_NOTHING_SELECTED'],
    ['details', { run: 'r99' }, 'MCP_UNKNOWN_RUN'],
    ['details', { run: 'r1', check: 'no/such-check' }, 'MCP_UNKNOWN_CHECK'],
    ['details', { run: 'r1', cause: 99 }, 'MCP_UNKNOWN_CAUSE'],
    ['details', { run: 'r1', page: 99 }, 'MCP_PAGE'],
    ['explain', { id: 'no-such-name' }, 'EXPLAIN_UNKNOWN'],
    ['verify', { body: 'e30', encoding: 'base64', signature: 'x' }, 'MCP_BAD_BASE64'],
    ['list', { what: 'scenarios', suites: ['signatur'] }, 'PLAN_UNKNOWN_NAME'],
  ])('%s with %j: %s', async (tool, given, code) => {
    const answer = await call(tool, given);
    expect(codeOf(answer)).toBe(code);
    expect(answer.text).not.toMatch(/`hookproof|`--/);
  });

  it.each([
    // The discard port is harmless if a defect opens the connection.
    'http://198.41.0.4:9/',
    'https://10.0.0.1:9/',
    'http://[fd00::1]:9/',
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:10.0.0.1]:9/',
    'http://0/',
  ])('%s is no endpoint of this machine: nothing is sent', async (url) => {
    for (const tool of ['run', 'doctor']) {
      const answer = await call(tool, { url });
      expect(codeOf(answer)).toBe('ENDPOINT_ADDRESS_REFUSED');
      if (/198|10\.0|fd00/.test(url)) expect(answer.text).toContain('--allow-host HOST');
    }
  });

  it.each(['ftp://127.0.0.1/', 'file:///etc/hostname', '127.0.0.1'])('%s is no endpoint', async (url) => {
    expect((await call('run', { url })).text).toContain('begin with http:// or https://');
  });

  it('a name of this machine and an unusual spelling of its address are allowed', async () => {
    for (const host of ['localhost', '0x7f.1', '[::ffff:127.0.0.1]']) {
      const url = `http://${host}:${receiver.port}/hooks`;
      const answer = await call('run', { url, scenarios: ['valid/plain'] });
      expect([host, codeOf(answer)]).toEqual([host, 'no error']);
    }
  });

  it('nothing is listening on the port: no conclusion, and no error', async () => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    const answer = await call('run', { url, scenarios: ['valid/plain'] });
    expect(answer.data).toMatchObject({ verdict: null, counts: { pass: 0, fail: 0, inconclusive: 1 } });
    const doctor = await call('doctor', { url });
    expect(doctor.data).toMatchObject({ reached: false });
    expect(doctor.text).toContain('problem nothing-listens (connection)');
  });
});

describe('look-ups', () => {
  it.each([
    ['signature/missing', 'Requirement '],
    ['hmac-raw-body', 'Binds '],
    ['raw-body', 'raw-body/spaces'],
    ['verifies-reserialised-json', 'a receiver fault'],
    ['hex', 'a signing mistake'],
    ['reserialised-json+hex', 'several signing mistakes'],
    ['352-102-S1', 'Group '],
    ['CONFIRMED', 'order status'],
  ])('explain %s', async (id, part) => {
    const { data, text } = await call('explain', { id });
    expect(text).toContain(part);
    expect(text.startsWith((data!.lines as string[])[0]!)).toBe(true);
  });

  it('explain shows the fix for one stack', async () => {
    const { text } = await call('explain', { id: 'verifies-reserialised-json', stack: 'flask' });
    expect(text).toContain('request.get_data()');
    expect(text).not.toContain('express.raw');
  });

  it('list filters, and gives every entry once on its pages', async () => {
    expect((await call('list')).data).toMatchObject({ what: 'suites', page: 1, leftOut: 0 });
    const ids: string[] = [];
    let total = 0;
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { data } = await call('list', { what: 'scenarios', suites: ['raw-body'], page });
      ids.push(...(data!.items as { id: string }[]).map(({ id }) => id));
      [pages, total] = [data!.pages as number, data!.total as number];
    }
    expect(ids).toHaveLength(total);
    expect(new Set(ids).size).toBe(total);
    const filtered = await call('list', { what: 'faults', filter: 'RESERIALISED-json' });
    expect((filtered.data!.items as { id: string }[]).map(({ id }) => id)).toContain('verifies-reserialised-json');
  });

  it('verify accepts the right signature, of a body as text and in base64', async () => {
    const body = '{"id":"1","name":"café"}';
    const signature = hmacOf(SECRET, body).toString('base64');
    expect((await call('verify', { body, signature })).data).toMatchObject({ matches: true, findings: [] });
    const encoded = Buffer.from(body).toString('base64');
    const decoded = await call('verify', { body: encoded, encoding: 'base64', signature });
    expect(decoded.data).toMatchObject({ matches: true, bytes: Buffer.byteLength(body) });
  });

  it('verify names the mistake', async () => {
    const hex = await call('verify', { body: '{"id":"1"}', signature: hmacOf(SECRET, '{"id":"1"}').toString('hex') });
    expect(hex.data).toMatchObject({ matches: false, findings: [{ mistake: 'hex' }, {}] });
    const other = await call('verify', { body: '{}', signature: hmacOf('another secret', '{}').toString('base64') });
    expect(other.data).toMatchObject({ matches: false, findings: [{ mistake: null }] });
  });

  it('doctor examines an endpoint, and delivers if asked', async () => {
    const { data, text } = await call('doctor', { url: receiver.url, deliver: true });
    expect(data).toMatchObject({ url: receiver.url, reached: true, counts: { problem: 0 } });
    expect(text).toContain('This is not a verdict');
  });
});

describe('the configuration', () => {
  it('without credentials, nothing is run unless the endpoint is open', async () => {
    const server = await startedMcp();
    const given = { url: receiver.url, scenarios: ['valid/plain'] };
    expect(codeOf(await server.call('run', given))).toBe('NO_CREDENTIALS');
    expect(codeOf(await server.call('run', { ...given, open: true }))).toBe('no error');
    expect(codeOf(await server.call('verify', { body: '', signature: '' }))).toBe('SECRET_MISSING');
    const again = await server.call('run', { scenarios: given.scenarios });
    expect(again.data).toMatchObject({ url: receiver.url, counts: { fail: 1 } });
    expect(codeOf(await server.call('run_failed'))).not.toBe('MCP_UNKNOWN_RUN');
    await server.close();
    const fresh = await startedMcp();
    const nowhere = await fresh.call('run', { open: true });
    expect(codeOf(nowhere)).toBe('CONFIG_URL_MISSING');
    expect(nowhere.text).toContain('Give `url`');
    await fresh.close();
    const configured = await startedMcp({ files: { 'hookproof.yaml': 'open: true\n' } });
    expect(codeOf(await configured.call('run', given))).toBe('no error');
    await configured.close();
  });

  it('comes from the folder of the start, and not from a file that was changed later', async () => {
    const files = { 'hookproof.yaml': `url: ${receiver.url}\nhmac:\n  secret: \${env:PARTNER_SECRET}\n` };
    const server = await startedMcp({ files, env: { PARTNER_SECRET: SECRET, OTHER_SECRET: 'of-this-machine' } });
    const only = { scenarios: ['valid/plain'] };
    expect((await server.call('run', only)).data).toMatchObject({ counts: { pass: 1 } });
    const changed = `${files['hookproof.yaml']}headers:\n  X-Other: \${env:OTHER_SECRET}\n`;
    await writeFile(join(server.folder, 'hookproof.yaml'), changed);
    expect(codeOf(await server.call('run', only))).toBe('MCP_CONFIG_CHANGED');
    expect(codeOf(await server.call('doctor'))).toBe('MCP_CONFIG_CHANGED');
    await server.close();
  });

  it.each(['another text', null])(
    'does not send what takes the place of a file that it refers to: %s',
    async (text) => {
      const files = {
        'hookproof.yaml': `url: ${receiver.url}\nhmac:\n  secret: \${file:s.txt}\nheaders:\n  X-T: \${file:t.txt}\n`,
        's.txt': SECRET,
        't.txt': 'ours',
        'private.txt': 'of this machine',
      };
      const server = await startedMcp({ files });
      const only = { scenarios: ['valid/plain'] };
      expect((await server.call('run', only)).data).toMatchObject({ counts: { pass: 1 } });
      const tenant = join(server.folder, 't.txt');
      await rm(tenant);
      await (text === null ? symlink(join(server.folder, 'private.txt'), tenant) : writeFile(tenant, text));
      expect(codeOf(await server.call('run', only))).toBe('MCP_CONFIG_CHANGED');
      await server.close();
    },
  );

  it('writes no file, whatever it says about reports', async () => {
    const reports = 'output-dir: ./out\nreporters: [json=run.json, human]\n';
    const files = { 'hookproof.yaml': `url: ${receiver.url}\nhmac:\n  secret: \${env:PARTNER_SECRET}\n${reports}` };
    const server = await startedMcp({ files, env: { PARTNER_SECRET: SECRET } });
    expect((await server.call('run', { scenarios: ['valid/plain'] })).isError).toBe(false);
    expect(await readdir(server.folder)).toEqual(['hookproof.yaml']);
    await server.close();
  });

  it('every tool takes the last endpoint with its settings, and run_failed says why a run had no verdict', async () => {
    const server = await startedMcp({ env: { HOOKPROOF_URL: receiver.url } });
    const url = `http://127.0.0.1:${await freePort()}/`;
    await server.call('run', { url, open: true, scenarios: ['valid/plain'] });
    // Without `open`, a run without credentials is refused.
    expect((await server.call('run', { scenarios: ['valid/plain'] })).data).toMatchObject({ url });
    expect((await server.call('doctor')).data).toMatchObject({ url });
    const failed = await server.call('run_failed');
    expect(codeOf(failed)).toBe('MCP_NO_VERDICT');
    expect(failed.text).toContain(`run r2 of ${url} had no verdict`);
    expect(failed.text).toContain('Nothing is listening');
    expect(failed.text).toContain('Start the receiver');
    await server.close();
  });

  it('run_failed before any run is an error', async () => {
    const server = await startedMcp({ env: { HOOKPROOF_SECRET: SECRET } });
    const failed = await server.call('run_failed');
    expect([codeOf(failed), failed.text]).toEqual(['MCP_UNKNOWN_RUN', expect.stringContaining('Give the `url`')]);
    expect(codeOf(await server.call('details'))).toBe('MCP_UNKNOWN_RUN');
    await server.close();
  });

  it('an allowed host may not have an address from which cloud machines read credentials', async () => {
    const host = '169.254.169.254';
    const server = await startedMcp({ args: ['--allow-host', host], env: { HOOKPROOF_SECRET: SECRET } });
    expect(codeOf(await server.call('run', { url: `http://${host}/` }))).toBe('ENDPOINT_ADDRESS_REFUSED');
    await server.close();
  });
});
