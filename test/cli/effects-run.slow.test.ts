/** `hookproof run` with the effects window of `hookproof receiver`: separate processes, with a restart and without. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CATALOGUE } from '../../scenarios/index.ts';
import { freePort } from '../endpoints/listen.ts';
import { hookproof, MAIN } from './hookproof.ts';
import { endReceivers, startedReceiver } from './receivers.ts';

const TOKEN = randomBytes(24).toString('base64url');
const env = { HOOKPROOF_SECRET: randomBytes(32).toString('base64'), HOOKPROOF_EFFECTS_TOKEN: TOKEN };
/** The variables that the commands need. */
const variables = Object.keys(env).flatMap((name) => ['--command-env', name]);
const SCENARIOS = CATALOGUE.flatMap(({ name, scenarios }) => (name === 'effects' ? scenarios : []));
const RESTARTING = SCENARIOS.filter(({ needs = [] }) => needs.includes('restart')).map(({ id }) => id);
const LOGS = SCENARIOS.filter(({ needs = [] }) => needs.includes('log')).map(({ id }) => id);
const WINDOW = /effects window at (\S+) /;

let folder = '';
const inFolder = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hookproof-effects-run-'));
});
afterAll(async () => {
  endReceivers();
  await rm(folder, { recursive: true });
});

/** Runs the suite, and returns the verdict and the reason for each scenario. */
async function runSuite(url: string, args: readonly string[], given: NodeJS.ProcessEnv = env) {
  const all = ['run', url, '--suite', 'effects', '--reporter', 'json', ...args];
  const { code, stdout, stderr } = await hookproof(all, { env: given, cwd: folder });
  expect(stdout + stderr).not.toContain(TOKEN);
  const { results = [] } = stdout === '' ? {} : JSON.parse(stdout);
  const list = results as {
    id: string;
    verdict: string;
    reason: string;
    effects?: { times: number }[];
    reproduce?: { command: string };
  }[];
  const not = (...verdicts: string[]) =>
    list.filter(({ verdict }) => !verdicts.includes(verdict)).map(({ id, verdict, reason }) => [id, verdict, reason]);
  return { code, stderr, list, not, named: (id: string) => list.find((one) => one.id === id) };
}

describe('with the window of the reference receiver', () => {
  let receiver: Awaited<ReturnType<typeof startedReceiver>>;
  let window = '';
  beforeAll(async () => {
    receiver = await startedReceiver(['--effects', '0'], { env, cwd: folder });
    window = await receiver.says(WINDOW);
  });

  it('passes, without the checks across restarts and of credentials that are not configured', async () => {
    const { code, not, named } = await runSuite(receiver.url, ['--effects', window]);
    expect({ code, others: not('pass', 'not-applicable') }).toEqual({ code: 0, others: [] });
    // The other suites were not sent.
    const others = ['api-key', 'raw-body', 'malformed', 'http', 'mtls'].map((suite) => `effects/rejected-${suite}`);
    expect(not('pass').map(([id]) => id)).toEqual([...RESTARTING, ...others, ...LOGS]);
    expect(named('effects/copies-in-turn')?.effects?.map(({ times }) => times)).toEqual([1, 1, 1, 1]);
  });

  it('passes when a command asks the window', async () => {
    await writeFile(
      inFolder('ask.mjs'),
      `const headers = { Authorization: 'Bearer ' + process.env.HOOKPROOF_EFFECTS_TOKEN };
      const answer = await fetch(process.env.WINDOW + '?' + process.argv[2], { headers });
      process.stdout.write(await answer.text());`,
    );
    const command = `WINDOW='${window}' '${process.execPath}' '${inFolder('ask.mjs')}'`;
    const only = ['effects/order', 'effects/refund-pair', 'effects/accepted-once'].flatMap((id) => ['--scenario', id]);
    const args = ['run', receiver.url, ...only, '--reporter', 'json', '--effects-command', command, ...variables];
    const { code, stdout, stderr } = await hookproof(args, { env, cwd: folder });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { results } = JSON.parse(stdout) as { results: { verdict: string }[] };
    expect(results.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'pass']);
  });

  it('an audit alone judges the plain deliveries of the run', async () => {
    const args = ['run', receiver.url, '--scenario', 'effects/accepted-handled', '--reporter', 'json'];
    const { code, stdout } = await hookproof([...args, '--effects', window], { env, cwd: folder });
    const { results } = JSON.parse(stdout) as { results: { verdict: string; observed: string }[] };
    expect({ code, results }).toMatchObject({ code: 0, results: [{ verdict: 'pass', observed: '1 handled' }] });
  });

  it('--dry-run plans what the window shows', async () => {
    const args = ['run', receiver.url, '--suite', 'effects', '--dry-run', '--json', '--effects', window];
    const { code, stdout } = await hookproof(args, { env, cwd: folder });
    const { features, applicable } = JSON.parse(stdout);
    expect({ code, features, applicable }).toEqual({
      code: 0,
      features: ['hmac', 'effects'],
      applicable: SCENARIOS.length - RESTARTING.length - LOGS.length - 2,
    });
  });

  describe('sends nothing, and exits with 2', () => {
    let before = 0;
    const delivered = () => receiver.output().stdout.match(/"status":200/g)?.length ?? 0;
    beforeAll(() => {
      before = delivered();
      expect(before).toBeGreaterThan(0);
    });

    it.each<[string, () => string[], NodeJS.ProcessEnv, string]>([
      ['a wrong token', () => ['--effects', window], { HOOKPROOF_EFFECTS_TOKEN: 'x'.repeat(32) }, 'answered 401'],
      ['no token', () => ['--effects', window], { HOOKPROOF_EFFECTS_TOKEN: undefined }, 'Set HOOKPROOF_EFFECTS_TOKEN'],
      ['another path', () => ['--effects', `${window}/x`], {}, 'answered 404, expected 200; nothing was sent'],
      ['the endpoint itself', () => ['--effects', receiver.url], {}, 'expected 200; nothing was sent'],
      ['a command that fails', () => ['--effects-command', 'exit 4;'], {}, 'ended with exit code 4; nothing was sent'],
      [
        'a metadata address',
        () => ['--effects', 'http://169.254.169.254/'],
        {},
        'the effects window: will not connect to 169.254',
      ],
    ])('%s', async (_, args, more, message) => {
      const { code, stderr, list } = await runSuite(receiver.url, args(), { ...env, ...more });
      expect({ code, list, stderr }).toEqual({ code: 2, list: [], stderr: expect.stringContaining(message) });
      expect(delivered()).toBe(before);
    });
  });
});

describe('with a restart', () => {
  /**
   * Writes a script that ends the receiver with SIGKILL, starts it again with these arguments, and waits until it is
   * listening. The first call only starts it.
   */
  async function restarting(name: string, receiverArgs: readonly string[]) {
    const [port, effectsPort] = [await freePort(), await freePort()];
    const pid = inFolder(`${name}.pid`);
    const log = inFolder(`${name}.log`);
    const args = ['--port', String(port), '--effects', String(effectsPort), ...receiverArgs];
    const file = inFolder(`${name}.sh`);
    await writeFile(
      file,
      `if [ -f '${pid}' ]; then kill -9 "$(cat '${pid}')"; touch '${inFolder(`${name}.restarted`)}'; fi
      : > '${log}'
      '${process.execPath}' '${MAIN}' receiver ${args.map((arg) => `'${arg}'`).join(' ')} > /dev/null 2> '${log}' &
      echo $! > '${pid}'
      until case "$(cat '${log}')" in *'effects window'*) ;; *) false ;; esac; do
        kill -0 $! || exit 1
        sleep 0.05
      done`,
    );
    const command = `sh '${file}'`;
    const url = `http://127.0.0.1:${port}/hooks`;
    const window = `http://127.0.0.1:${effectsPort}/effects`;
    const restart = ['--effects', window, '--restart-command', command, ...variables];
    return { url, restart, file, pid };
  }

  /** Starts the receiver, runs the suite, and ends the receiver. */
  async function runRestarting(name: string, receiverArgs: readonly string[], runArgs: readonly string[] = []) {
    const { url, restart, file, pid } = await restarting(name, receiverArgs);
    const { spawnSync } = await import('node:child_process');
    const { PATH, HOME } = process.env;
    const { status } = spawnSync('sh', [file], { env: { PATH, HOME, ...env }, cwd: folder, stdio: 'ignore' });
    expect(status).toBe(0);
    try {
      const first = await readFile(pid, 'utf8');
      const result = await runSuite(url, [...restart, '--effects-deadline', '3s', ...runArgs]);
      // The receiver was restarted.
      expect(await readFile(pid, 'utf8')).not.toBe(first);
      return result;
    } finally {
      process.kill(Number(await readFile(pid, 'utf8')), 'SIGKILL');
    }
  }

  it('passes with an inbox and a record on disk', async () => {
    const args = ['--inbox', `file:${inFolder('inbox.db')}`, '--effects-file', inFolder('effects.ndjson')];
    const { code, not, named } = await runRestarting('durable', args);
    expect({ code, others: not('pass', 'not-applicable') }).toEqual({ code: 0, others: [] });
    for (const id of RESTARTING) expect(named(id)?.verdict).toBe('pass');
    expect(named('effects/survives-kill')?.effects).toHaveLength(25);
  });

  it.each([
    ['fails with an inbox in memory: what was acknowledged is lost', 'memory', [], 'fail'],
    ['passes with the same handlers and an inbox on disk', 'disk', ['--inbox', 'file:./slow.db'], 'pass'],
  ])('%s', async (_, name, inbox, verdict) => {
    // Nothing is handled before the restart.
    await writeFile(
      inFolder(`${name}.mjs`),
      `import { existsSync } from 'node:fs';
      const hang = () => existsSync('${inFolder(`${name}.restarted`)}') || new Promise(() => {});
      export const handlers = { CAAS_BLOCKCHAIN: async () => void (await hang()) };`,
    );
    const record = ['--effects-file', inFolder(`${name}.ndjson`)];
    const args = ['--handlers', inFolder(`${name}.mjs`), ...record, ...inbox];
    const only = ['--effects-deadline', verdict === 'fail' ? '2s' : '15s', '--scenario', 'effects/survives-kill'];
    const { named } = await runRestarting(name, args, only);
    const reason = verdict === 'fail' ? 'notification 1: accepted, but not handled within 2 s' : '';
    expect(named('effects/survives-kill')).toMatchObject({ verdict, reason });
    // The command that repeats the run opens the same sources.
    const command =
      verdict === 'fail' ? expect.stringMatching(/ --effects http:.* --restart-command '.*sh /) : undefined;
    expect(named('effects/survives-kill')?.reproduce?.command).toEqual(command);
  });

  it('has no conclusion with a record in memory: a second handling would not show', async () => {
    const args = ['--inbox', `file:${inFolder('forgetful.db')}`];
    const { code, named } = await runRestarting('forgetful', args, ['--scenario', RESTARTING[0] ?? '']);
    expect({ code, result: named(RESTARTING[0] ?? '') }).toMatchObject({
      code: 3,
      result: { verdict: 'inconclusive', reason: expect.stringContaining('the effects window forgot handlings') },
    });
  });

  describe('that fails', () => {
    let receiver: Awaited<ReturnType<typeof startedReceiver>>;
    let window = '';
    beforeAll(async () => {
      receiver = await startedReceiver(['--effects', '0'], { env, cwd: folder });
      window = await receiver.says(WINDOW);
    });

    const BACKGROUND = 'it must start the receiver in the background';
    it.each<[string, string, string, string?]>([
      ['ends with an error', 'exit 5', '`--restart-command` ended with exit code 5, expected 0: run it yourself'],
      ['is missing', './no-such-program', 'ended with exit code 127 (command not found), expected 0'],
      ['does not end', 'sleep 3600; true', `\`--restart-command\` did not end within 6 s: ${BACKGROUND}`, '1s'],
      ['is killed', 'kill -9 $$', '`--restart-command` was killed by SIGKILL, expected 0'],
    ])(
      'has a whole report without a conclusion across restarts when the command %s',
      async (_, command, reason, timeout = '10s') => {
        const only = [...RESTARTING, 'effects/order', 'effects/accepted-once'].flatMap((id) => ['--scenario', id]);
        const args = ['--effects', window, '--restart-command', command, ...only, '--timeout', timeout];
        const { code, stderr, list } = await runSuite(receiver.url, args);
        const open = { verdict: 'inconclusive', reason: expect.stringContaining(reason) };
        expect({ code, list }).toMatchObject({
          code: 3,
          list: list.map(({ id }) => ({ id, ...(RESTARTING.includes(id) ? open : { verdict: 'pass' }) })),
        });
        expect(list).toHaveLength(RESTARTING.length + 2);
        expect(stderr.replace(/\s+/g, ' ')).toContain(reason);
      },
    );

    it('ends what a command that does not end has started', async () => {
      const ticks = inFolder('ticks');
      const command = `while :; do echo >> '${ticks}'; sleep 0.05; done & wait`;
      const args = ['--effects', window, '--restart-command', command, '--scenario', 'effects/survives-kill'];
      expect((await runSuite(receiver.url, [...args, '--timeout', '2s'])).code).toBe(3);
      const written = await readFile(ticks, 'utf8');
      await delay(300);
      expect(await readFile(ticks, 'utf8')).toBe(written);
    });

    it('has no failure when the receiver does not come back', async () => {
      const { PATH, HOME } = process.env;
      const gone = await startedReceiver(['--effects', '0'], { env, cwd: folder });
      const args = ['--effects', await gone.says(WINDOW), '--restart-command', `kill -9 ${gone.child.pid}`];
      const more = ['--recovery', '1s', '--reporter', 'json=gone.json', '--log', 'gone.log'];
      const run = ['run', gone.url, ...args, ...more];
      const { code } = await hookproof(run, { env: { PATH, HOME, ...env }, cwd: folder });
      const { counts, evidence, partial, results } = JSON.parse(await readFile(inFolder('gone.json'), 'utf8'));
      const named = (id: string) => results.find((one: { id: string }) => one.id === id);
      expect({ code, partial, evidence }).toMatchObject({ code: 3, partial: false, evidence: { level: 1 } });
      expect(counts).toMatchObject({ fail: 0, inconclusive: RESTARTING.length + LOGS.length - 2 });
      expect(named('effects/survives-kill').reason).toMatch(
        /^after `--restart-command`, the receiver did not accept a valid delivery within 1 s\. The connection was refu/,
      );
      expect(named('effects/log-secret').reason).toMatch(/^`--log \/.*gone.log`: there was no such file/);
    });
  });
});
