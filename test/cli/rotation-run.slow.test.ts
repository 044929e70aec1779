/** `hookproof run` rotates the secret of `hookproof receiver`: separate processes, switched by a command or not. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signatureOf } from '../../contract/signing/index.ts';
import type { ResultDocument } from '../../harness/report/result-document.ts';
import { lacks } from '../setup/programs.ts';
import { hookproof } from './hookproof.ts';
import { inTerminal } from './in-terminal.ts';
import { endReceivers, startedReceiver } from './receivers.ts';

const [OLD = '', NEXT = ''] = Array.from({ length: 2 }, () => randomBytes(32).toString('base64'));
const env = { HOOKPROOF_SECRET: OLD, HOOKPROOF_NEXT_SECRET: NEXT };

/** A script that writes the two files of the receiver: the current secret, and another valid one. */
const ROTATE = `
case "$HOOKPROOF_ROTATION_STEP" in
  old) first=old second=old ;;
  both) first=next second=old ;;
  new) first=next second=next ;;
esac
cp "$first.txt" current.tmp && mv current.tmp current.txt
cp "$second.txt" previous.tmp && mv previous.tmp previous.txt
echo "$HOOKPROOF_ROTATION_STEP \${HOOKPROOF_SECRET:-}\${HOOKPROOF_NEXT_SECRET:-}" >> steps.txt
echo a line of the command
`;

let folder = '';
let receiver: Awaited<ReturnType<typeof startedReceiver>>;
let url = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-rotation-'));
  const files = { 'old.txt': OLD, 'next.txt': NEXT, 'current.txt': OLD, 'previous.txt': OLD, 'rotate.sh': ROTATE };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  const args = ['--secret-file', 'current.txt', '--secret-file', 'previous.txt'];
  receiver = await startedReceiver(args, { env: {}, cwd: folder });
  url = receiver.url;
});
afterAll(async () => {
  endReceivers();
  await rm(folder, { recursive: true });
});

const SHORT = ['--suite', 'rotation', '--recovery', '200ms'];

async function runSuite(args: readonly string[]) {
  const finished = await hookproof(['run', url, '--reporter', 'json', ...args], { env, cwd: folder });
  const said = finished.stdout + finished.stderr;
  for (const secret of [OLD, NEXT]) expect(said).not.toContain(secret);
  expect(said).not.toContain('a line of the command');
  const document = JSON.parse(finished.stdout) as ResultDocument;
  const not = (...verdicts: string[]) =>
    document.results.filter(({ verdict }) => !verdicts.includes(verdict)).map(({ id, reason }) => [id, reason]);
  return { ...finished, document, not };
}

it('keeps its secrets when a file is empty, and says so', async () => {
  await writeFile(join(folder, 'previous.txt'), '');
  expect(await receiver.says(/secrets not reloaded, the old ones remain in use: .*/)).toContain('previous.txt');
  expect((await hookproof(['trigger', 'wallet', url], { env })).code).toBe(0);
  await writeFile(join(folder, 'previous.txt'), OLD);
});

describe('a rotation of the receiver', () => {
  it('passes with a command that writes its files, which it reloads without a lost delivery', async () => {
    const { code, stdout, document, not } = await runSuite([
      '--suite',
      'rotation',
      '--rotate-command',
      'sh rotate.sh',
      '--evidence',
    ]);
    expect({ code, others: not('pass') }).toEqual({ code: 0, others: [] });
    expect(document.rotation).toEqual({ steps: ['old', 'both', 'new'], switchedBy: 'command' });
    // The command receives each step but no secret. At the end, the old secret is valid again.
    expect(await readFile(join(folder, 'steps.txt'), 'utf8')).toBe('old \nboth \nnew \nold \n');
    // Neither the next secret nor a signature with it is in the record.
    const bodies = document.results.flatMap(({ exchanges }) => exchanges.map(({ request }) => request.body.text ?? ''));
    expect(bodies.length).toBeGreaterThan(20);
    for (const body of bodies) expect(stdout).not.toContain(signatureOf(Buffer.from(body), NEXT));
  });

  it('leads to no conclusion when the command does not switch it', async () => {
    const { code, not } = await runSuite([...SHORT, '--rotate-command', 'true']);
    expect(code).toBe(3);
    expect(not('pass')).toHaveLength(18);
    expect(Object.fromEntries(not('pass'))['rotation/after-old']).toContain('the receiver was not switched');
  });

  it('leads to no conclusion without a command and a terminal', async () => {
    const { code, not } = await runSuite(SHORT);
    expect(code).toBe(3);
    expect(Object.fromEntries(not('pass'))['rotation/both-next']).toContain('no terminal for a prompt');
  });

  it.skipIf(lacks('python3'))('asks at a terminal, where the end of the input confirms nothing', async () => {
    const prompt = 'Let the receiver accept both secrets now, then press Enter:';
    const { code, screen } = await inTerminal(['run', url, ...SHORT], { columns: 80, prompt, typed: '\x04', env });
    expect(code).toBe(3);
    expect(screen).toContain(prompt);
    expect(screen.replaceAll(/\s+/g, ' ')).toContain('step both of the rotation was not confirmed');
  });

  it.skipIf(lacks('python3'))('is interrupted by Ctrl-C at the question, and by the time limit', async () => {
    const prompt = 'then press Enter:';
    const interrupted = await inTerminal(['run', url, ...SHORT], { columns: 80, prompt, typed: '\x03', env });
    expect(interrupted.code).toBe(130);
    expect(interrupted.screen).toContain('interrupted: writing the partial report');
    const late = await inTerminal(['run', url, ...SHORT, '--max-time', '8s'], { columns: 80, env });
    expect(late.code).toBe(3);
    expect(late.screen).toContain(prompt);
  });
});
