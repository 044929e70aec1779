/**
 * Receivers with an effects window that handle notifications in other ways. They share no code with the reference
 * receiver.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { EffectsAnswer, EffectValues, Handled } from '../../../../contract/effects.ts';
import { EFFECT_DECIMALS } from '../../../../contract/index.ts';
import {
  bodyOf,
  type CorrectOptions,
  type CorrectReceiver,
  idOf,
  isAuthentic,
  listenOn,
  sameText,
} from './correct-receiver.ts';
import { otherLanguageWithEffects } from './programs.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns the value at a path as text. Undefined if there is none. */
function textAt(value: unknown, path: string): string | undefined {
  const found = path.split('.').reduce<unknown>((at, key) => {
    return typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? (at as Json)[key] : undefined;
  }, value);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

function firstAt(value: unknown, ...paths: string[]): string | null {
  return paths.map((path) => textAt(value, path)).find((text) => text !== undefined) ?? null;
}

function displayed(atomic: string | null, currency: string | null): string | undefined {
  const decimals = Object.hasOwn(EFFECT_DECIMALS, currency ?? '') ? EFFECT_DECIMALS[currency ?? ''] : undefined;
  if (atomic === null || decimals === undefined || !/^\d{1,300}$/.test(atomic)) return undefined;
  const digits = atomic.padStart(decimals + 1, '0');
  // Trailing zeros are kept: 1.50 is as valid as 1.5.
  return decimals === 0 ? atomic : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

function valuesOf(payload: Json): EffectValues {
  const type = textAt(payload, 'type') ?? '';
  const currency = firstAt(
    payload,
    ...['data.metadata.asset.currency', 'data.metadata.blockchainData.currency', 'data.metadata.currency'],
    'data.assetId',
  );
  const amount =
    type === 'REFUND'
      ? (textAt(payload, 'data.metadata.amount') ?? null)
      : displayed(firstAt(payload, 'data.metadata.asset.amount'), currency);
  return {
    kind: type === 'CAAS' ? `CAAS_${textAt(payload, 'data.type')}` : type,
    status: firstAt(
      payload,
      ...['data.metadata.orderStatus', 'data.metadata.providerTransactionStatus', 'data.status'],
    ),
    transaction: firstAt(payload, 'data.transactionId', 'data.partnerTransactionId'),
    customer: firstAt(payload, 'data.customerId', 'data.accountId'),
    paymentMethod: firstAt(payload, 'data.paymentMethodId'),
    address: firstAt(payload, 'data.walletAddress'),
    hash: firstAt(
      payload,
      ...['data.metadata.blockchainData.blockchainTransactionId', 'data.metadata.blockchainTransactionId'],
      'data.metadata.blockchainTransctionId',
    ),
    currency,
    errorCode: firstAt(payload, 'data.errorData.code', 'data.errorCode'),
    ...(amount !== undefined && { amount }),
  };
}

const STEPS = ['CREATED', 'PENDING', 'BLOCKCHAIN_ACCEPTED'];
const FINAL = ['CONFIRMED', 'COMPLETED', 'FAILED'];

const rankOf = (status: string | null | undefined) =>
  FINAL.includes(status ?? '') ? STEPS.length : STEPS.indexOf(status ?? '');

/** Creates a ledger of what was done, and of the current state of each transaction. */
function createLedger({ before = 0 } = {}) {
  const done: Handled[] = [];
  const current = new Map<string, { status: string | null; hash: string | null; rank: number }>();
  const isLate = ({ kind, transaction, status }: EffectValues) =>
    (kind === 'CAAS_BUY' || kind === 'CAAS_SELL') &&
    rankOf(status) < (current.get(transaction ?? '')?.rank ?? rankOf(status));
  return {
    done,
    isLate,
    book(notification: string, values: EffectValues): void {
      done.push({ notification, ...values });
      const { transaction, status = null, hash = null } = values;
      if (transaction == null) return;
      const state = current.get(transaction);
      if (state === undefined) current.set(transaction, { status, hash, rank: rankOf(status) });
      else {
        if (!isLate(values)) Object.assign(state, { status, rank: rankOf(status) });
        state.hash = hash ?? state.hash;
      }
    },
    answer(query: URLSearchParams): EffectsAnswer {
      const total = before + done.length;
      const transaction = query.get('transaction');
      if (transaction !== null) {
        const { status = null, hash = null } = current.get(transaction) ?? {};
        return {
          total,
          handled: done.filter((one) => one.transaction === transaction),
          current: current.has(transaction) ? { status, hash } : null,
        };
      }
      const ids = (query.get('notification') ?? '').split(',');
      return { total, handled: done.filter(({ notification }) => ids.includes(notification)) };
    },
  };
}

type Ledger = ReturnType<typeof createLedger>;

/** Handles each valid delivery, including copies. It may end after the answer. */
type Accept = (id: string, payload: Json) => void | Promise<void>;

interface Logged {
  readonly req: IncomingMessage;
  readonly body: Buffer;
  readonly status: number;
  readonly durationMs: number;
}

interface Style {
  readonly name: string;
  readonly title: string;
  /** Number of handlings before the start. */
  readonly before?: number;
  readonly accept: (ledger: Ledger) => Accept;
  /** Returns the log line of a delivery, if the receiver has a log. */
  readonly logs?: (delivery: Logged) => string;
  /** Changes the answer of the ledger that the window shows. */
  readonly shown?: (answer: EffectsAnswer) => EffectsAnswer;
}

async function answerDelivery(
  req: IncomingMessage,
  res: ServerResponse,
  options: CorrectOptions,
  { accept, logs }: { readonly accept: Accept; readonly logs?: Style['logs'] },
): Promise<void> {
  const started = performance.now();
  const body = await bodyOf(req);
  const id = idOf(body);
  if (req.method !== 'POST') res.writeHead(405, { Allow: 'POST' });
  else if (!isAuthentic(req, body, options)) res.writeHead(401);
  else if (id === undefined || id === '') res.writeHead(400);
  else {
    await accept(id, JSON.parse(new TextDecoder().decode(body)));
    res.writeHead(200);
  }
  res.end();
  const durationMs = performance.now() - started;
  if (logs !== undefined) options.log?.(`${logs({ req, body, status: res.statusCode, durationMs })}\n`);
}

function withWindow({ name, title, before = 0, accept, logs, shown = (answer) => answer }: Style): CorrectReceiver {
  return {
    name,
    title,
    hasEffects: true,
    hasLog: logs !== undefined,
    async start(options) {
      const ledger = createLedger({ before });
      const handling = { accept: accept(ledger), ...(logs !== undefined && { logs }) };
      const receiver = await listenOn(
        createServer((req, res) => {
          answerDelivery(req, res, options, handling).catch(() => res.destroy());
        }),
      );
      const window = await listenOn(
        createServer((req, res) => {
          if (!sameText(req.headers.authorization ?? '', `Bearer ${options.token}`)) return res.writeHead(401).end();
          const { searchParams } = new URL(req.url ?? '', 'http://window');
          res.writeHead(200, { 'Content-Type': 'application/json' });
          return res.end(JSON.stringify(shown(ledger.answer(searchParams))));
        }),
      );
      return {
        url: receiver.url,
        effectsUrl: window.url,
        close: async () => {
          await receiver.close();
          await window.close();
        },
      };
    },
  };
}

/** Returns a function that records a notification unless its key is known, either at once or in `work`. */
function once(ledger: Ledger, work: (book: () => void, values: EffectValues) => void | Promise<void>): Accept {
  const known = new Set<string>();
  return (id, payload) => {
    if (known.has(id)) return;
    known.add(id);
    const values = valuesOf(payload);
    return work(() => ledger.book(id, values), values);
  };
}

/** Runs a function later, unless the process ends before. */
function later(ms: number, run: () => void): void {
  setTimeout(run, ms).unref();
}

/** Returns the line that a careful receiver logs about a delivery. */
const lineOf = ({ body, status, durationMs }: Logged) => {
  const type = /"type"\s*:\s*"([A-Z_]{1,20})"/.exec(body.toString())?.[1] ?? '-';
  return `${new Date().toISOString()} ${idOf(body)?.slice(0, 64) ?? '-'} ${type} ${status} ${durationMs.toFixed(1)} ms`;
};

const withMaskedHeaders = ({ req, status }: Logged) => {
  const isMasked = (name: string) => !/^(?:host|accept|content-|connection|user-agent)/.test(name);
  const headers = Object.entries(req.headers).map(([name, value]) => [name, isMasked(name) ? '[Redacted]' : value]);
  return JSON.stringify({ level: 30, req: { method: req.method, headers: Object.fromEntries(headers) }, status });
};

const fingerprintOf = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');

const withFingerprints = ({ req, body, status }: Logged) => {
  const key = fingerprintOf(String(req.headers['x-api-key'])).slice(0, 12);
  return `status=${status} body=sha256:${fingerprintOf(body)} key=${key}`;
};

const withBeginnings = ({ body, status }: Logged) => {
  const fields = Array.from(body.toString('latin1').matchAll(/"(\w{1,40}(?:Id|Address))"\s*:\s*"([^"]{8})/g));
  return `${status} ${fields.map(([, name, beginning]) => `${name}=${beginning}***`).join(' ')}`;
};

const KNOWN_TYPES = ['CAAS', 'PAYMENT_METHOD', 'REFUND', 'CAAS_BLOCKCHAIN', 'WALLET'];
const MAX_MS = 2000;

export const withEffects: readonly CorrectReceiver[] = [
  withWindow({
    name: 'effects-synchronous',
    title: 'Handles each notification before it answers, and logs its id, type, status and duration.',
    logs: lineOf,
    accept: (ledger) => once(ledger, (book) => book()),
  }),
  withWindow({
    name: 'effects-idempotent',
    title:
      'Handles each notification at least once, twice as a rule, with an effect that counts once, and logs requests ' +
      'with masked headers.',
    logs: withMaskedHeaders,
    accept(ledger) {
      const applied = new Set<string>();
      const apply = (id: string, payload: Json) => {
        if (applied.has(id)) return;
        applied.add(id);
        ledger.book(id, valuesOf(payload));
      };
      return (id, payload) => {
        later(5, () => apply(id, payload));
        later(60, () => apply(id, payload));
      };
    },
  }),
  withWindow({
    name: 'effects-queued',
    title: 'Handles notifications from a queue, each up to two seconds later.',
    accept: (ledger) => once(ledger, (book) => later(Math.random() * MAX_MS, book)),
  }),
  withWindow({
    name: 'effects-batched',
    title: 'Handles what has come every half second, and logs fingerprints of bodies and keys.',
    logs: withFingerprints,
    accept(ledger) {
      let batch: (() => void)[] = [];
      const timer = setInterval(() => {
        const work = batch;
        batch = [];
        for (const book of work) book();
      }, 500);
      timer.unref();
      return once(ledger, (book) => void batch.push(book));
    },
  }),
  withWindow({
    name: 'effects-unordered',
    title:
      'Handles notifications in parallel and without order, before it answers, and logs the first characters of ids ' +
      'and addresses.',
    logs: withBeginnings,
    accept: (ledger) =>
      once(ledger, async (book) => {
        await delay(Math.random() * 40);
        book();
      }),
  }),
  withWindow({
    name: 'effects-late-ignored',
    title: 'Ignores a status that arrives too late, and does not list it as handled.',
    accept: (ledger) => once(ledger, (book, values) => (ledger.isLate(values) ? undefined : book())),
  }),
  withWindow({
    name: 'effects-without-values',
    title: 'States only which notifications were handled, without values.',
    accept: (ledger) => once(ledger, (book) => book()),
    shown: ({ total, handled }) => ({ total, handled: handled.map(({ notification }) => ({ notification })) }),
  }),
  withWindow({
    name: 'effects-ids-in-upper-case',
    title: 'Keeps ids in upper case, as a column of SQL Server does.',
    accept: (ledger) => once(ledger, (book) => book()),
    shown: ({ handled, ...answer }) => ({
      ...answer,
      handled: handled.map((one) => ({ ...one, notification: one.notification.toUpperCase() })),
    }),
  }),
  withWindow({
    name: 'effects-unknown-aside',
    title: 'Sets notifications of unknown types aside, and never handles them.',
    accept(ledger) {
      const handle = once(ledger, (book) => book());
      return (id, payload) => (KNOWN_TYPES.includes(String(payload.type)) ? handle(id, payload) : undefined);
    },
  }),
  withWindow({
    name: 'effects-of-before',
    title: 'Counts what it handled before the run.',
    before: 12_345,
    accept: (ledger) => once(ledger, (book) => book()),
  }),
  otherLanguageWithEffects,
];
