import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { serve } from '../endpoints/listen.ts';
import { hmacOf, verifying } from '../endpoints/verifying.ts';
import { lacks } from '../setup/programs.ts';
import { hookproof } from './hookproof.ts';
import { FAULTS, OUTCOME, startSession, startWatched } from './watching.ts';

const IDS = Object.keys(FAULTS);
const SELECTION = IDS.flatMap((id) => ['--scenario', id]);
const READY = /Watching the current folder\n/;

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

async function started(args: readonly string[], { beforeMs = 0, downMs = 0, terminal = true } = {}) {
  const endpoint = await startWatched({ beforeMs, downMs });
  open.push(endpoint);
  const session = startSession(endpoint, ['--watch', ...args], { terminal });
  open.push(session);
  await session.shows(READY);
  return { endpoint, session };
}

/** A receiver in this process, which is replaced in place. */
async function startedInPlace(args: readonly string[]) {
  const { folder, secret, close } = await startWatched();
  const state = { lenient: false };
  const correct = verifying((body) => hmacOf(secret, body).toString('base64'));
  const lenient = verifying((body) => hmacOf(secret, body).toString('base64'), undefined, { lenient: true });
  const { url, close: end } = await serve((request, response) =>
    (state.lenient ? lenient : correct)(request, response),
  );
  const session = startSession({ folder, secret, url }, ['--watch', '--settle', '300ms', ...args]);
  open.push({ close }, { close: end }, session);
  await session.shows(READY);
  const save = (lenientNow: boolean) => {
    state.lenient = lenientNow;
    return writeFile(join(folder, 'routes.txt'), `${lenientNow} ${Math.random()}`);
  };
  return { session, save };
}

describe.skipIf(lacks('python3'))('run --watch in a terminal', () => {
  it('judges the code on disk after each of six edits, when the endpoint has restarted', async () => {
    const { endpoint, session } = await started(SELECTION, { downMs: 1_000 });
    for (const [id, line] of Object.entries(FAULTS)) {
      await endpoint.write(line);
      const broken = await session.shows(OUTCOME);
      expect(broken).toMatch(/receiver\.mjs changed\n.*the endpoint restarted \(down \S+ m?s\)\n/);
      expect(broken).toContain(`${id}: observed`);
      for (const other of IDS) if (other !== id) expect(broken).not.toContain(`${other}: observed`);
      expect(broken).toContain('1 check fails');
      await endpoint.write();
      const fixed = await session.shows(OUTCOME);
      expect(fixed).toContain(`1 check that failed passes now: ${id}`);
      expect(fixed).toContain('Press "a" for the full run');
    }
    session.type('q');
    expect(await session.ended()).toEqual({ code: 0, restored: true });
  });

  it('discards the results when the endpoint restarts after the checks', async () => {
    const { endpoint, session } = await started([...SELECTION, '--settle', '100ms'], { beforeMs: 4_000 });
    await endpoint.write(FAULTS['signature/missing']);
    expect(await session.shows(OUTCOME)).toContain('no restart seen within 100 ms');
    const repeated = await session.shows(OUTCOME);
    expect(repeated).toMatch(/restarted (?:after|during) the checks/);
    expect(repeated).toContain('signature/missing: observed');
    session.type('q');
    expect(await session.ended()).toEqual({ code: 1, restored: true });
  });

  it('obeys its keys, and waits a quiet time for an endpoint that reloads in place', async () => {
    const { session, save } = await startedInPlace(SELECTION);
    session.type('p');
    await session.shows(/Filter .*: /);
    session.type('signature/missing\r');
    await session.shows(OUTCOME);
    session.type('p');
    await session.shows(/Filter .*: /);
    session.type('no-such-check\r');
    await session.shows(/no check has "no-such-check"/);
    session.type('f');
    await session.shows(/no check is known to fail/);
    session.type('h');
    await session.shows(/a all {2}f failed/);
    session.type('a');
    await session.shows(READY);
    await save(true);
    expect(await session.shows(OUTCOME)).toMatch(/routes\.txt changed\n.*no restart seen within 300 ms/);
    session.type('v');
    await session.shows(/verbose: every repetition/);
    session.type('v');
    await session.shows(/verbose is off/);
    session.type('\r');
    await session.shows(OUTCOME);
    session.type('\x03');
    expect(await session.ended()).toEqual({ code: 130, restored: true });
  });
});

describe('run --watch', () => {
  it('works without a terminal until it is interrupted', async () => {
    const { endpoint, session } = await started(SELECTION, { terminal: false });
    await endpoint.write(FAULTS['signature/empty']);
    expect(await session.shows(OUTCOME)).toContain('signature/empty: observed');
    session.signal('SIGINT');
    expect((await session.ended()).code).toBe(130);
  });

  it.each([
    [['--watch', '--dry-run'], 'cannot be combined'],
    [['--watch', '--shard', '1/2'], 'cannot be combined'],
    [['--watch', '--reporter', 'json'], 'needs a file'],
    [['--watch', 'no-such-folder'], 'there is no such file or folder'],
    [['--watch', '--settle', '5x'], 'is not a duration'],
    [['--settle', '5s'], 'needs `--watch`'],
  ])('rejects %j', async (args, message) => {
    const env = { HOOKPROOF_SECRET: 'c2VjcmV0LW9mLXRoZS10ZXN0LW9mLXdhdGNoaW5n' };
    const { code, stderr } = await hookproof(['run', 'http://127.0.0.1:9/', ...args], { env });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});
