/** What `hookproof mcp` remembers about each endpoint that it has tested. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Endpoint, serve } from '../endpoints/listen.ts';
import { hmacOf, verifying } from '../endpoints/verifying.ts';
import { codeOf, type StartedMcp, startedMcp } from './mcp-client.ts';

const SECRET = randomBytes(32).toString('base64');

let receiver: Endpoint;
let mcp: StartedMcp;

beforeAll(async () => {
  receiver = await serve(verifying((body) => hmacOf(SECRET, body).toString('base64')));
  mcp = await startedMcp({ env: { HOOKPROOF_SECRET: SECRET, HOOKPROOF_URL: receiver.url } });
});
afterAll(async () => {
  await mcp.close();
  await receiver.close();
});

const call = (tool: string, given?: object) => mcp.call(tool, given);

describe('a second receiver', () => {
  const only = { scenarios: ['valid/plain'], concurrency: 1 };

  it('has its own failed checks, and its full run is remembered after many others', async () => {
    const other = await serve((_request, response) => void response.writeHead(200).end());
    const whole = await call('run', { url: other.url });
    const { run, counts } = whole.data as { run: string; counts: { fail: number; warn: number } };
    for (let at = 0; at < 3; at++) await call('run', { url: other.url, ...only });
    for (let at = 0; at < 3; at++) await call('run', { url: receiver.url, ...only });
    expect(codeOf(await call('run_failed'))).toBe('MCP_NOTHING_FAILED');
    const again = await call('run_failed', { url: other.url });
    expect(again.text).toContain(other.url);
    expect(again.text).toContain(`as in run ${run}`);
    expect(again.data).toMatchObject({ counts: { fail: counts.fail, warn: counts.warn } });
    await other.close();
    // A run without verdicts does not replace the previous run.
    await call('run', { url: other.url });
    for (let at = 0; at < 5; at++) await call('run', { url: receiver.url, ...only });
    expect((await call('details', { run })).data).toMatchObject({ run, url: other.url, partial: false });
  });

  it('has failed checks that are known after a partial run of a later server', async () => {
    const other = await serve((_request, response) => void response.writeHead(200).end());
    const { data } = await call('run', { url: other.url, suites: ['signature'] });
    const { fail } = data!.counts as { fail: number };
    const later = await startedMcp({ env: { HOOKPROOF_SECRET: SECRET, HOOKPROOF_URL: other.url } });
    await later.call('run', only);
    expect((await later.call('run_failed')).data).toMatchObject({ counts: { fail } });
    await later.close();
    await other.close();
  });
});
