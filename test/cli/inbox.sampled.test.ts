/** `hookproof inbox` with both stores: the compiled program, while a receiver has the inbox open. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { displayWidth } from '../../harness/report/index.ts';
import type { DurableInbox } from '../../receiver/index.ts';
import { BINARY, filledInbox, HOSTILE, onEveryDatabase, STORES, type Store } from '../receiver/inbox/stores.ts';
import { lacks } from '../setup/programs.ts';
import { hookproof, MAIN } from './hookproof.ts';
import { inTerminal } from './in-terminal.ts';

const jsonLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

onEveryDatabase('inbox', (name) => {
  let store: Store;
  let inbox: DurableInbox;
  let bodies: Map<string, Buffer>;
  let folder = '';
  let env: NodeJS.ProcessEnv = {};
  const run = (...args: string[]) => hookproof(['inbox', ...args], { env, cwd: folder });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hookproof-inbox-command-'));
    store = await STORES[name]();
    inbox = (await store.open()) as DurableInbox;
    bodies = await filledInbox(inbox, 80);
    env = { HOOKPROOF_INBOX: store.url };
  });
  afterAll(async () => {
    await inbox.close();
    store.remove();
    rmSync(folder, { recursive: true });
  });

  it('list shows the newest first, says how many there are, and that some are dead', async () => {
    const { code, stdout, stderr } = await run('list', '--limit', '3');
    expect(code).toBe(0);
    const [head, ...lines] = stdout.trimEnd().split('\n');
    expect(head?.split(/ {2,}/)).toEqual(['state', 'received (UTC)', 'kind', 'status', 'tries', 'id', 'transaction']);
    expect(lines.map((line) => /done-\d+/.exec(line)?.[0])).toEqual(['done-79', 'done-78', 'done-77']);
    expect(stderr).toContain('3 of 87 entries (1 pending, 1 running, 82 done, 1 superseded, 2 dead), newest first');
    expect(stderr).toContain('hookproof inbox replay --state dead');
  });

  it('list takes filters, and --json has every field but the body', async () => {
    const filters = ['--state', 'pending', '--state', 'dead', '--kind', 'refund', '--transaction', 'order-4'];
    const { code, stdout, stderr } = await run('list', ...filters, '--since', '1h', '--until', '2100-01-01', '--json');
    expect([code, stderr]).toEqual([0, '1 of 1 entry (1 pending), newest first\n']);
    expect(jsonLines(stdout)).toEqual([
      {
        seq: expect.any(Number),
        id: 'waits',
        kind: 'REFUND',
        type: 'REFUND',
        transactionId: 'order-4',
        status: 'SUCCESS',
        at: '2023-11-14T22:13:20.000Z',
        receivedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        state: 'pending',
        attempts: 0,
        dueAt: expect.stringMatching(/^\d{4}-.*Z$/),
        lastError: null,
        settledAt: null,
        bodyBytes: bodies.get('waits')?.length,
      },
    ]);
  });

  it('show tells everything, and takes the beginning of an id', async () => {
    const [whole, short] = await Promise.all([run('show', 'dead-buy'), run('show', 'dead-b')]);
    expect({ ...whole, stdout: '' }).toEqual({ code: 0, stdout: '', stderr: '' });
    const words = [
      'dead-buy',
      'CAAS_BUY',
      'order-1',
      'COMPLETED',
      '2023-11-14T22:13:20.000Z',
      'attempts     1',
      'broke',
    ];
    for (const text of words) expect(whole.stdout).toContain(text);
    expect(whole.stdout).toContain(`\n${bodies.get('dead-buy')}\n`);
    expect(short).toEqual(whole);
  });

  it('show --raw writes the bytes as they came', () => {
    const bytes = execFileSync(process.execPath, [MAIN, 'inbox', 'show', 'not-text', '--raw'], {
      env: { ...process.env, ...env },
    });
    expect(bytes.equals(BINARY)).toBe(true);
  });

  it('show names the entries that are near when there is none, or more than one', async () => {
    const [none, several] = await Promise.all([run('show', 'dead-bye'), run('show', 'dead')]);
    expect([none.code, several.code]).toEqual([2, 2]);
    expect(none.stderr).toMatch(/there is no entry "dead-bye"\n.*dead-buy/);
    expect(several.stderr).toContain('dead-buy, dead-wallet');
  });

  it('export gives every entry once, in the order of arrival, with its bytes', async () => {
    const { code, stdout, stderr } = await run('export');
    expect([code, stderr]).toEqual([0, 'exported 87 entries\n']);
    const lines = jsonLines(stdout);
    expect(lines.map(({ id }) => id)).toEqual([...bodies.keys()]);
    for (const { id, body, json } of lines) {
      const bytes = Buffer.from(body, 'base64');
      expect(bytes.equals(bodies.get(id) ?? Buffer.alloc(0))).toBe(true);
      expect(json).toEqual(id === 'not-text' || id === 'text' ? undefined : JSON.parse(bytes.toString()));
    }
    const { id, state, lastError } = lines[0];
    expect([id, state, lastError]).toEqual(['dead-buy', 'dead', `Error: broke ${HOSTILE}`]);
  });

  it('replay needs a selection and a confirmation', async () => {
    const [nothing, unasked, missing] = await Promise.all([
      run('replay', '--yes'),
      run('replay', '--state', 'dead'),
      run('replay', 'dead-buy', 'dead-bye', '--yes'),
    ]);
    expect([nothing.code, nothing.stderr.includes('INBOX_NOTHING_MEANT')]).toEqual([2, true]);
    expect(unasked.code).toBe(2);
    expect(unasked.stderr).toContain('nothing was done: the command would replay 2 entries (2 dead)');
    expect([missing.code, missing.stderr.includes('there is no entry "dead-bye"')]).toEqual([2, true]);
    expect((await inbox.depths()).dead).toBe(2);
  });

  it('replay makes dead entries pending again with all attempts, and skips running ones', async () => {
    const { code, stdout, stderr } = await run('replay', 'dead-wallet', 'dead-buy', 'runs', '--yes');
    expect([code, stdout]).toEqual([0, 'replayed 2 entries\n']);
    expect(stderr).toContain('not replayed, still being handled: runs');
    const again = await run('replay', '--state', 'dead', '--yes');
    expect([again.code, again.stdout]).toEqual([0, 'replayed 0 entries: none matches\n']);
    const claims = await inbox.claim(10, 60_000);
    expect(claims.map(({ id, attempt }) => [id, attempt])).toEqual([
      ['dead-buy', 1],
      ['dead-wallet', 1],
    ]);
    for (const claim of claims) await inbox.settle({ claim, state: 'done', order: null });
  });

  it('prune removes settled entries, explains the consequence, and needs a confirmation', async () => {
    const refused = await run('prune', '--before', '2100-01-01');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('counts as new if it is delivered again');
    expect(refused.stderr).toContain(
      'the command would remove 85 entries (84 done, 1 superseded) from before 2100-01-01',
    );
    expect((await run('prune', '--before', '1d', '--yes')).stdout).toMatch(/^removed 0 entries/);
    const { code, stdout } = await run('prune', '--before', '2100-01-01', '--yes');
    expect([code, stdout]).toEqual([0, 'removed 85 entries\n']);
    expect(jsonLines((await run('list', '--json')).stdout).map(({ id }) => id)).toEqual(['waits', 'runs']);
  });
});

describe('on any store', () => {
  let store: Store;
  let inbox: DurableInbox;
  let folder = '';
  let env: NodeJS.ProcessEnv = {};
  const run = (...args: string[]) => hookproof(['inbox', ...args], { env, cwd: folder });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hookproof-inbox-command-'));
    store = await STORES.sqlite();
    inbox = (await store.open()) as DurableInbox;
    await filledInbox(inbox, 200);
    env = { HOOKPROOF_INBOX: store.url };
  });
  afterAll(async () => {
    await inbox.close();
    store.remove();
    rmSync(folder, { recursive: true });
  });

  it.skipIf(lacks('python3'))('list fits a terminal', async () => {
    const { code, screen } = await inTerminal(['inbox', 'list', '--limit', '300'], { columns: 60, env });
    expect(code).toBe(0);
    const lines = screen
      .replaceAll('\r', '')
      .replace(/\u001b\[\d+m/g, '')
      .trimEnd()
      .split('\n');
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(60);
    expect(lines.length).toBeGreaterThan(207);
    for (const word of ['dead', 'CAAS_BUY', 'dead-w', 'Error: broke']) expect(screen).toContain(word);
  });

  it('hostile content is escaped in every output', async () => {
    const outputs = await Promise.all([
      run('list', '--limit', '300'),
      run('list', '--limit', '300', '--json'),
      run('show', 'dead-buy'),
      run('show', 'text'),
      run('show', 'not-text'),
      run('show', 'not-text', '--json'),
      run('show', HOSTILE),
      run('export', '--transaction', HOSTILE),
    ]);
    for (const { stdout, stderr } of outputs) expect(/[^\n\x20-\x7e…]/.exec(`${stdout}${stderr}`)).toBeNull();
    expect(outputs[2]?.stdout).toContain('broke \\x1b[2J\\u202e\\x9b31m');
    expect(outputs[3]?.stdout).toContain(`{\\r\n "a": "\\x1b[2J\\u202e\\x9b31m"\n}`);
    expect(outputs[4]?.stdout).toContain('00000000  7b 00 1b 5b 32 4a ff fe  0a 7d                    |{..[2J...}|');
    expect(outputs[7]?.stdout).toContain('"id":"not-text"');
  });

  it.skipIf(lacks('python3'))('show --raw writes nothing to a terminal', async () => {
    const { code, screen } = await inTerminal(['inbox', 'show', 'not-text', '--raw'], { columns: 80, env });
    expect([code, screen.includes('\u001b[2J')]).toEqual([2, false]);
    expect(screen).toContain('INBOX_RAW_TO_TERMINAL');
  });

  it.skipIf(lacks('python3'))('replay asks in a terminal, and accepts only yes', async () => {
    const answer = (typed: string) => inTerminal(['inbox', 'replay', 'dead-buy'], { columns: 80, typed, env });
    for (const typed of ['\n', 'n\n', 'yesterday\n', '\u0004']) {
      const { code, screen } = await answer(typed);
      expect([typed, code, screen.includes('nothing was done')]).toEqual([typed, 0, true]);
    }
    expect((await inbox.depths()).dead).toBe(2);
    const { code, screen } = await answer('y\n');
    expect(code).toBe(0);
    expect(screen).toContain('replay 1 entry (1 dead)? [y/N] ');
    expect(screen).toContain('replayed 1 entry');
    expect((await inbox.depths()).dead).toBe(1);
  });

  it('export writes a complete file that only its owner can read, and replaces one only with --force', async () => {
    const args = ['export', '--kind', 'REFUND', '--output', 'refunds.ndjson'];
    const first = await run(...args);
    expect([first.code, first.stdout, first.stderr]).toEqual([0, '', 'exported 1 entry to refunds.ndjson\n']);
    const path = join(folder, 'refunds.ndjson');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(jsonLines(readFileSync(path, 'utf8')).map(({ id }) => id)).toEqual(['waits']);
    const [again, forced, nowhere] = await Promise.all([
      run(...args),
      run('export', '--output', 'refunds.ndjson', '--force'),
      run('export', '--output', 'no/such/folder/x'),
    ]);
    expect([again.code, again.stderr.includes('already exists')]).toEqual([2, true]);
    expect([forced.code, readFileSync(path, 'utf8').split('\n').length]).toEqual([0, 208]);
    expect([nowhere.code, nowhere.stderr.includes('INBOX_EXPORT_NOT_WRITTEN')]).toEqual([2, true]);
    expect(readdirSync(folder)).toEqual(['refunds.ndjson']);
  });

  it.skipIf(lacks('bash'))('a reader that closes the pipe is not an error', () => {
    const script = '"$0" "$1" inbox export | head -n 1 >/dev/null; echo "$PIPESTATUS"';
    const said = execFileSync('bash', ['-c', `{ ${script}; } 2>&1`, process.execPath, MAIN], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
    // If the pipe was large enough, everything was written.
    expect(said.replace('exported 207 entries\n', '')).toBe('0\n');
  });

  it('every command reports a mistyped path, and creates no file', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'hookproof-no-inbox-'));
    const commands = [
      ['list'],
      ['show', 'x'],
      ['export'],
      ['replay', 'x', '--yes'],
      ['prune', '--before', '1d', '--yes'],
    ];
    for (const command of commands) {
      const { code, stdout, stderr } = await hookproof(['inbox', ...command, '--inbox', 'file:./inbx.db'], {
        cwd: empty,
      });
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('there is no inbox at ./inbx.db');
    }
    expect(readdirSync(empty)).toEqual([]);
    rmSync(empty, { recursive: true });
  });

  it.each<[string[], string]>([
    [['list', '--inbox', 'postgres://user:secret@localhost/x'], 'INBOX_PASSWORD_IN_ARGUMENT'],
    [['list', '--limit', '99999'], 'hookproof inbox export'],
    [['prune', '--before', 'long ago'], '`--before long ago` is neither'],
    [['prune'], '--before'],
    [['forget'], 'unknown command'],
  ])('%j is rejected', async (args, says) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('secret');
  });

  it('without an inbox, the error names the ways to give one', async () => {
    const { code, stderr } = await hookproof(['inbox', 'list']);
    expect([code, stderr.includes('HOOKPROOF_INBOX')]).toEqual([2, true]);
  });
});
