/** The answers of `hookproof mcp` about a receiver that rejects with 403, and without any receiver. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Endpoint, freePort, serve } from '../endpoints/listen.ts';
import { hmacOf, verifying } from '../endpoints/verifying.ts';
import { type StartedMcp, startedMcp, type ToolAnswer } from './mcp-client.ts';

const SECRET = randomBytes(32).toString('base64');

let receiver: Endpoint;
let mcp: StartedMcp;
let run: ToolAnswer;

beforeAll(async () => {
  const signed = (body: Buffer) => hmacOf(SECRET, JSON.stringify(JSON.parse(`${body}`))).toString('base64');
  receiver = await serve(verifying(signed, undefined, { refusal: 403 }));
  mcp = await startedMcp({ env: { HOOKPROOF_SECRET: SECRET, HOOKPROOF_URL: receiver.url } });
  run = await mcp.call('run');
});
afterAll(async () => {
  await mcp.close();
  await receiver.close();
});

describe('a receiver that rejects with 403', () => {
  it('is shown with the status that was received, not that of the specification', async () => {
    const { text } = await mcp.call('details', { run: 'r1', cause: 1 });
    for (const shown of [run.text, text]) {
      expect(shown).toContain('expected 200, got 403');
      expect(shown).not.toContain('got 401');
    }
  });

  it('has details that say which bytes of the body were changed', async () => {
    const { text } = await mcp.call('details', { check: 'raw-body/spaces' });
    expect(text).toMatch(/changed: body: .*bytes/);
    expect(text).not.toContain('other bytes for the body');
  });

  it('keeps its causes when run_failed finds the same', async () => {
    const again = await mcp.call('run_failed');
    expect(again.text).toMatch(
      /^1\. failure: .*, as in run r1 \(verifies-reserialised-json, matches \d+ of \d+ outcomes\)$/m,
    );
    const [one, other] = [run, again].map(({ data }) => data!.counts as { fail: number; warn: number });
    expect(other).toMatchObject({ fail: one!.fail, warn: one!.warn });
  });
});

describe('a port on which nothing is listening', () => {
  it('is the first cause, with its fix and with `doctor`, in words of the program alone', async () => {
    const { data, text } = await mcp.call('run', { url: `http://127.0.0.1:${await freePort()}/` });
    expect(text).toMatch(/^1\. inconclusive: Nothing is listening/m);
    expect(text).toContain('Start the receiver');
    expect(text).toContain('`doctor`');
    expect(text).not.toContain('untrusted');
    expect(data).toMatchObject({ causes: [{ cause: 1, fault: 'nothing-listens' }, {}, {}] });
    const { text: details } = await mcp.call('details', { check: 'valid/plain' });
    expect(details).toContain('observed: not delivered: the connection was refused');
  });
});

describe('an endpoint that rejects the credentials', () => {
  it('is described by `doctor` in the words of the program, whole and without marks', async () => {
    const other = await serve((_request, response) => void response.writeHead(401).end());
    const { text } = await mcp.call('doctor', { url: other.url, deliver: true });
    await other.close();
    expect(text).toMatch(/^problem refuses-right-credentials \(delivery\): The endpoint rejects/m);
    expect(text).toContain('fix: Compare');
    expect(text).not.toContain('untrusted');
  });
});
