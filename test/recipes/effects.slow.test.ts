/** The effects window of each language, with a real receiver and the journal that it writes. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type EffectsAnswer, type EffectsQuery, effectsAnswer, effectsQueryText } from '../../contract/effects.ts';
import { effectsServerOf, recipeOf, STACKS, type Stack } from '../../contract/index.ts';
import { run } from '../../harness/index.ts';
import { startPostgres } from '../setup/postgres.ts';
import { lacks } from '../setup/programs.ts';
import { RECIPE_FACTS } from './recipe-facts.ts';
import {
  copyRecipe,
  type RecipeProcess,
  removeCopy,
  runInFolder,
  startEffects,
  startRecipe,
  whyNotRun,
} from './recipe-process.ts';
import { WINDOWS, windowTable } from './window-table.ts';

const token = randomBytes(16).toString('hex');
const secret = randomBytes(32).toString('base64');
const apiKey = randomBytes(24).toString('base64url');
const ODD_ID = 'a,b &é+%';
const LONG = '12345678901234567890123456789012345678';

const deposit = (amount: string, currency: string, hash: object = {}) => ({
  type: 'CAAS_BLOCKCHAIN',
  data: {
    type: 'RECEIVE',
    status: 'COMPLETED',
    partnerTransactionId: 'deposit',
    metadata: { asset: { amount, currency }, ...hash },
  },
});

const order = (orderStatus: string, hash: string) => ({
  type: 'CAAS',
  data: {
    type: 'BUY',
    transactionId: 'order',
    metadata: { orderStatus, blockchainData: { blockchainTransactionId: hash, currency: 'ETH' } },
    errorData: null,
  },
});

/** The delivered notifications, by id. */
const DELIVERED = {
  [ODD_ID]: order('PENDING', ''),
  second: order('CONFIRMED', '0xorder'),
  neo: deposit(LONG, 'NEO', { blockchainTransactionId: '0xright' }),
  gusd: deposit('5', 'GUSD', { blockchainTransctionId: '0xmisspelt' }),
  usdc: deposit('1500000', 'USDC', { blockchainTransctionId: '0xmisspelt', blockchainTransactionId: '0xright' }),
  btc: deposit('100', 'BTC'),
  eth: deposit(LONG, 'ETH'),
  zero: deposit('0', 'NEO'),
  other: deposit('5', 'UNKNOWN'),
  refund: {
    type: 'REFUND',
    data: {
      status: 'FAIL',
      transactionId: 'sold',
      metadata: { amount: '0.10', currency: 'BTC' },
      errorData: { code: 'E-1' },
    },
  },
  odd: { type: 'NEW', data: { status: 5, metadata: 'text' } },
  tracking: {
    type: 'CAAS',
    data: {
      type: 'ORDER_TRACKING',
      transactionId: 'cash',
      metadata: { orderType: 'BUY', providerTransactionStatus: 'EXPIRED' },
      errorData: null,
    },
  },
  card: {
    type: 'PAYMENT_METHOD',
    data: { status: 'DECLINED', paymentMethodId: 'method', accountId: 'account', errorCode: 'E-2' },
  },
  wallet: {
    type: 'WALLET',
    data: { customerId: 'customer', walletAddress: 'line\nand "quote" \\ \u0001é', assetId: 'ETH' },
  },
};

/** The windows that are run. docs/recipes.md lists the others with the reasons. */
const RUN = WINDOWS.filter((stack) => recipeOf(stack).notRun === undefined);

describe.each(RUN)('the effects window of %s', (stack) => {
  const reason = whyNotRun(stack);
  if (reason !== null) console.log(`Skipped the effects window of ${stack}: ${reason}`);
  const { effects, effectsBuild } = recipeOf(stack);
  let folder = '';
  let receiver: RecipeProcess;
  let answered: EffectsAnswer;

  beforeAll(async () => {
    if (reason !== null) return;
    folder = copyRecipe(stack);
    if (effectsBuild !== undefined) expect(runInFolder(folder, effectsBuild).status).toBe(0);
    receiver = await startRecipe(stack, { folder, apiKey });
    for (const [id, notification] of Object.entries(DELIVERED)) await delivered(receiver.url, { id, ...notification });
    const copies = Array.from({ length: 5 }, () => delivered(receiver.url, { id: 'neo', ...DELIVERED.neo }));
    await Promise.all(copies);
    answered = asked({ notifications: ['never', ...Object.keys(DELIVERED).reverse()] });
  });
  afterAll(async () => {
    await receiver?.kill();
    if (folder !== '') removeCopy(folder);
  });

  const asked = (query: EffectsQuery) =>
    effectsAnswer.parse(JSON.parse(runInFolder(folder, effects, effectsQueryText(query)).stdout));
  const handledOf = (...ids: (keyof typeof DELIVERED)[]) =>
    answered.handled.filter(({ notification }) => (ids as string[]).includes(notification));

  it.skipIf(reason !== null)('fails for another query', () => {
    for (const query of ['', 'xnotification=neo']) {
      const { status, stdout, stderr } = runInFolder(folder, effects, query);
      expect({ fails: status !== 0, stdout }).toEqual({ fails: true, stdout: '' });
      expect(stderr).toContain('Give notification=ID,ID or transaction=ID.');
    }
  });

  it.skipIf(reason !== null)('lists a notification once after copies, in order, and nothing of an unknown id', () => {
    const ids = answered.handled.map(({ notification }) => notification);
    expect({ total: answered.total, ids }).toEqual({ total: ids.length, ids: Object.keys(DELIVERED) });
  });

  it.skipIf(reason !== null)('keeps every digit at 0, 2, 6, 8 and 18 decimals', () => {
    const handled = handledOf('neo', 'gusd', 'usdc', 'btc', 'eth', 'zero', 'other', 'refund');
    expect(handled.map(({ amount }) => amount)).toEqual([
      LONG,
      '0.05',
      '1.5',
      '0.000001',
      `${LONG.slice(0, 20)}.${LONG.slice(20)}`,
      '0',
      undefined,
      '0.10',
    ]);
  });

  it.skipIf(reason !== null)('reads the hash under both spellings, and the correct one wins', () => {
    const handled = handledOf('neo', 'gusd', 'usdc', 'btc');
    expect(handled.map(({ hash }) => hash)).toEqual(['0xright', '0xmisspelt', '0xright', undefined]);
  });

  it.skipIf(reason !== null)('states the flow of a transaction, a refund and a type that is not known', () => {
    const flow = asked({ transaction: 'order' }).handled;
    expect(flow.map(({ kind, status, hash }) => ({ kind, status, hash }))).toEqual([
      { kind: 'CAAS_BUY', status: 'PENDING', hash: undefined },
      { kind: 'CAAS_BUY', status: 'CONFIRMED', hash: '0xorder' },
    ]);
    expect(handledOf('refund', 'odd')).toEqual([
      {
        notification: 'refund',
        kind: 'REFUND',
        status: 'FAIL',
        transaction: 'sold',
        amount: '0.10',
        currency: 'BTC',
        errorCode: 'E-1',
      },
      { notification: 'odd', kind: 'NEW' },
    ]);
    expect(asked({ transaction: 'deposit' }).handled).toHaveLength(7);
  });

  it.skipIf(reason !== null)('states the ids and values of the other kinds', () => {
    const [tracking, card, wallet] = handledOf('tracking', 'card', 'wallet');
    expect(tracking).toEqual({
      notification: 'tracking',
      kind: 'CAAS_ORDER_TRACKING',
      status: 'EXPIRED',
      transaction: 'cash',
    });
    expect(card).toEqual({
      notification: 'card',
      kind: 'PAYMENT_METHOD',
      status: 'DECLINED',
      customer: 'account',
      paymentMethod: 'method',
      errorCode: 'E-2',
    });
    expect(wallet).toEqual({
      notification: 'wallet',
      kind: 'WALLET',
      customer: 'customer',
      address: 'line\nand "quote" \\ \u0001é',
      currency: 'ETH',
    });
  });

  it.skipIf(reason !== null)('answers soon when an amount has 200,000 digits', () => {
    const line = (id: string, digits: number) => {
      const { type, data } = deposit(`1${'0'.repeat(digits - 2)}1`, 'NEO');
      return `${JSON.stringify({ id, body: JSON.stringify({ id, type, data }) })}\n`;
    };
    writeFileSync(join(folder, 'digits.ndjson'), line('thousand', 1000) + line('endless', 200_000));
    const startedAt = performance.now();
    const { stdout } = runInFolder(folder, `WEBHOOK_JOURNAL=digits.ndjson ${effects}`, 'transaction=deposit');
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    const { handled } = JSON.parse(stdout) as EffectsAnswer;
    expect(handled.map(({ notification }) => notification)).toEqual(['thousand', 'endless']);
    expect(handled[0]?.amount).toHaveLength(1000);
  });

  it.skipIf(reason !== null)('gives the same answer as an endpoint', async () => {
    const endpoint = await startEffects(stack, folder, token);
    try {
      const query = effectsQueryText({ notifications: [ODD_ID, 'eth'] });
      const response = await fetch(`${endpoint.url}?${query}`, { headers: { Authorization: `Bearer ${token}` } });
      expect(response.status).toBe(200);
      expect(effectsAnswer.parse(await response.json()).handled).toEqual(handledOf(ODD_ID, 'eth'));
    } finally {
      await endpoint.kill();
    }
  });

  it.skipIf(reason !== null)('answers when a type is empty, and ignores a last line that is not complete', () => {
    const empty = JSON.stringify({ id: 'empty', body: '{"id":"empty","type":"","data":{"status":null}}' });
    const cut = Buffer.from('{"id":"cut","bo\xc3', 'latin1');
    appendFileSync(join(folder, 'journal.ndjson'), Buffer.concat([Buffer.from(`${empty}\n`), cut]));
    const { total, handled } = asked({ notifications: ['cut', 'empty'] });
    expect(total).toBe(Object.keys(DELIVERED).length + 1);
    expect(handled.map(({ kind = '', ...others }) => ({ kind, ...others }))).toEqual([
      { notification: 'empty', kind: '' },
    ]);
  });
});

describe.each(['express', 'python'] as const)('the endpoint of the effects window of %s', (stack) => {
  const reason = whyNotRun(stack);
  const [program = '', file = ''] = effectsServerOf(recipeOf(stack)).split(' ');
  const server = `${program} ${file}`;
  let folder = '';
  let endpoint: RecipeProcess;

  beforeAll(async () => {
    if (reason !== null) return;
    folder = copyRecipe(stack);
    // The command prints the query as JSON, and fails for one query.
    const command = `if [ "$1" = notification=fail ]; then exit 3; fi; printf '{"query":"%s"}' "$1"`;
    writeFileSync(join(folder, 'answer.sh'), command);
    endpoint = await startEffects(stack, folder, token, `${server} sh answer.sh`);
  });
  afterAll(async () => {
    await endpoint?.kill();
    if (folder !== '') removeCopy(folder);
  });

  const statusOf = async (target: string, init: RequestInit = {}) =>
    (await fetch(new URL(target, endpoint.url), { headers: { Authorization: `Bearer ${token}` }, ...init })).status;

  it.skipIf(reason !== null)('answers 401 without its token', async () => {
    for (const authorization of ['', token, `Bearer ${token}x`, `Bearer ${token.slice(1)}`, 'Bearer é']) {
      const headers = authorization === '' ? {} : { Authorization: authorization };
      expect(await statusOf('/effects?notification=neo', { headers })).toBe(401);
    }
    expect(await statusOf('/effects?notification=neo')).toBe(200);
  });

  it.skipIf(reason !== null)('answers 400 to another query or path, and 500 when the command fails', async () => {
    const ids = (count: number) => Array.from({ length: count }, (_, n) => n).join(',');
    expect(await statusOf(`/effects?notification=${ids(50)}`)).toBe(200);
    const others = ['', '?', '?all=1', '?notification=', '?transaction=a&transaction=b', `?notification=${ids(51)}`];
    for (const other of others) expect(await statusOf(`/effects${other}`)).toBe(400);
    expect(await statusOf('/hooks?notification=neo')).toBe(400);
    expect(await statusOf('/effects?notification=neo', { method: 'POST' })).not.toBe(200);
    expect(await statusOf('/effects?notification=fail')).toBe(500);
  });

  it.skipIf(reason !== null)('passes the query to a shell of another machine as one word', async () => {
    // Like ssh, the script joins its arguments, and a shell parses them again.
    writeFileSync(join(folder, 'remote.sh'), 'sh -c "sh answer.sh $*"');
    const remote = await startEffects(stack, folder, token, `${server} sh remote.sh`);
    try {
      const ask = (query: string) => fetch(`${remote.url}?${query}`, { headers: { Authorization: `Bearer ${token}` } });
      const hostile = ['$(touch$IFS"made")', '`touch$IFS"made"`', ';touch$IFS"made"', '*', '~', '(x)', '!x', '\\x'];
      for (const text of hostile) expect((await ask(`notification=${text}`)).status).toBe(400);
      const query = effectsQueryText({ notifications: ["$(touch made);'`~*!\\\n", 'a.b_c-1'] });
      expect(await (await ask(query)).json()).toEqual({ query });
      expect(existsSync(join(folder, 'made'))).toBe(false);
    } finally {
      await remote.kill();
    }
  });

  it.skipIf(reason !== null)('does not start without a token, or without a command', async () => {
    const short = startEffects(stack, folder, 'too-short', `${server} true`);
    await expect(short).rejects.toThrow(/ended with [1-9][\s\S]*WEBHOOK_EFFECTS_TOKEN/);
    await expect(startEffects(stack, folder, token, server)).rejects.toThrow(/ended with [1-9][\s\S]*Give the command/);
  });

  it.skipIf(reason !== null)('is not on the delivery port', async () => {
    const receiver = await startRecipe(stack, { folder, apiKey });
    try {
      expect(await statusOf(receiver.url.replace('/hooks', '/effects?notification=neo'))).toBe(404);
    } finally {
      await receiver.kill();
    }
  });
});

describe('a run with the effects window of a recipe', () => {
  const stack = 'python';
  const reason = whyNotRun(stack);
  if (reason !== null) console.log(`Skipped the run with the effects window of ${stack}: ${reason}`);

  // `npm run proofs -- effects` runs the other languages.
  it.skipIf(reason !== null)('reaches level 1', async () => {
    const folder = copyRecipe(stack);
    onTestFinished(() => removeCopy(folder));
    const receiver = await startRecipe(stack, { folder, secret, apiKey });
    onTestFinished(() => receiver.kill());
    const effects = await startEffects(stack, folder, token);
    onTestFinished(() => effects.kill());
    const { verdict, evidence, results } = await run({
      partner: { url: receiver.url, signing: { secret }, apiKey: { value: apiKey } },
      evidenceSources: { effects: { url: effects.url, token, deadlineMs: 10_000 } },
    });
    const red = results.filter(({ verdict }) => verdict !== 'pass' && verdict !== 'not-applicable');
    expect({ verdict, level: evidence?.level, red: red.map(({ id }) => id) }).toEqual({
      verdict: 'conformant',
      level: 1,
      red: Object.keys(RECIPE_FACTS[stack]?.warnings ?? {}),
    });
    expect(results.find(({ id }) => id === 'effects/copies-at-once')?.verdict).toBe('pass');
  });
});

it('has tests for the window of every recipe', () => {
  const effectsOf = (stacks: readonly Stack[]) => new Set(stacks.map((stack) => recipeOf(stack).effects));
  expect(effectsOf(WINDOWS)).toEqual(effectsOf(STACKS));
});

it('has a page with the lines of every window', () => {
  const page = readFileSync(new URL('../../docs/recipes.md', import.meta.url), 'utf8');
  expect(page).toContain(windowTable());
});

describe('the command of the page about effects, for receivers with PostgreSQL', () => {
  it.skipIf(lacks('postgres', 'psql'))('answers from a table of handlings', async () => {
    const page = readFileSync(new URL('../../docs/effects-window.md', import.meta.url), 'utf8');
    const script = /^#!\/bin\/sh\n# effects\.sh[\s\S]*?(?=^```)/m.exec(page)?.[0] ?? '';
    const folder = mkdtempSync(join(tmpdir(), 'effects-command-'));
    writeFileSync(join(folder, 'effects.sh'), script);
    const server = await startPostgres();
    try {
      const { username, password, hostname, port, pathname } = new URL(server?.url ?? '');
      const at = {
        PGHOST: hostname,
        PGPORT: port,
        PGUSER: username,
        PGPASSWORD: password,
        PGDATABASE: pathname.slice(1),
      };
      const options = { cwd: folder, encoding: 'utf8', env: { ...process.env, ...at } } as const;
      spawnSync('psql', ['-qX', '-v', 'ON_ERROR_STOP=1'], { ...options, input: HANDLED_ROWS });
      const ask = (query: string) => spawnSync('sh', ['effects.sh', query], options);
      const handled = (query: string) => effectsAnswer.parse(JSON.parse(ask(query).stdout));

      const { total, handled: entries } = handled('notification=a,c,never');
      expect({ total, entries: entries.map(({ notification, amount }) => [notification, amount]) }).toEqual({
        total: 4,
        entries: [
          ['c', null],
          ['a', LONG],
          ['a', '0.05'],
        ],
      });
      expect(handled('transaction=t1').handled.map(({ notification }) => notification)).toEqual(['b', 'a']);
      expect(handled('notification=never')).toEqual({ total: 4, handled: [] });
      expect(handled("notification=x',(select)").handled).toEqual([]);
      expect(ask('all=1').status).not.toBe(0);
    } finally {
      await server?.remove();
      rmSync(folder, { recursive: true });
    }
  });
});

/** A table with additional columns, and with rows that are not ordered by id. */
const HANDLED_ROWS = `
  CREATE TABLE handled (row_number bigserial, notification text, kind text, status text, transaction text, hash text,
    amount numeric, currency text, error_code text, private text);
  INSERT INTO handled (notification, kind, transaction, amount) VALUES
    ('c', 'REFUND', 't0', NULL), ('b', 'CAAS_BUY', 't1', NULL), ('a', 'CAAS_BLOCKCHAIN', 't1', ${LONG}),
    ('a', 'CAAS_BLOCKCHAIN', 't2', 0.0500);`;

async function delivered(url: string, notification: { readonly id: string }): Promise<void> {
  const body = JSON.stringify({ at: 1_767_225_600, ...notification });
  const headers = { 'Content-Type': 'application/json', 'X-API-Key': apiKey };
  const { status } = await fetch(url, { method: 'POST', headers, body });
  expect(status).toBe(200);
}
