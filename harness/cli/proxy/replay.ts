/** `hookproof replay`: resends captured deliveries, with their original bytes or signed again. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { hasStatus, SERVICE_SCHEME } from '../../../contract/signing/index.ts';
import { readHeaders } from '../../../contract/signing/schemes/check-scheme.ts';
import { visible } from '../../../contract/visible.ts';
import { type ConfigFlags, numberOfFlag, type ResolvedConfig } from '../../config/index.ts';
import type { Partner } from '../../partner.ts';
import {
  bodyDigest,
  type CapturedRequest,
  curlForCaptured,
  defaultStoreFolder,
  type Edit,
  listStored,
  readAnswers,
  readCaptured,
  readStored,
  type StoredAnswer,
  sendCaptured,
  whyNothingStored,
  withEdit,
} from '../../proxy/index.ts';
import { counted, createRedactor } from '../../report/index.ts';
import { signatureLines, signaturesIn } from '../../sender/index.ts';
import { pinEndpoint } from '../../transport/index.ts';
import { describeAnswer } from '../answer-line.ts';
import { commandConfig, readBodyToSign, readInput } from '../command-input.ts';
import { namedSecrets } from '../conduct.ts';
import { confirmSending } from '../confirm-sending.ts';
import { withFields } from '../set-fields.ts';
import { printAdvice, shownPath } from '../terminal.ts';
import { ANSWERED, answerInWord } from './delivery-log.ts';
import { forwardUrl } from './forward-url.ts';

interface ReplayFlags extends ConfigFlags {
  readonly config?: string;
  readonly to?: string;
  readonly publicUrl?: string;
  readonly store?: string;
  readonly all?: boolean;
  readonly last?: string;
  readonly list?: boolean;
  readonly sign?: boolean;
  readonly set?: string[];
  readonly body?: string;
  readonly curl?: boolean;
  readonly yes?: boolean;
}

const BAD_NUMBER = { code: 'REPLAY_BAD_NUMBER', hint: 'Write digits only.' };

export async function replayCommand(ids: readonly string[], flags: ReplayFlags): Promise<number> {
  const {
    config: configFile,
    to,
    publicUrl,
    store,
    all: _,
    last: __,
    list,
    sign,
    set = [],
    body,
    curl,
    yes,
    ...given
  } = flags;
  const folder = store ?? defaultStoreFolder(process.env);
  if (list === true) return printStored(folder, store === undefined);
  const wanted = await chosenIds(folder, ids, flags);
  const url = forwardUrl(to, ['http:', 'https:']);
  const config = await commandConfig(url.href, configFile, given);
  if (sign === true && config.partner.signing === undefined) {
    throw new HookproofError('SECRET_MISSING', '`--sign` needs the HMAC secret, but none is configured', {
      hint: 'Set HOOKPROOF_SECRET, or give a file with `--secret-file`.',
    });
  }
  const deliveries = await Promise.all(
    wanted.map(async (id) => ({ id, raw: await readStored(folder, id, store === undefined) })),
  );
  const replaced = body === undefined ? undefined : await (sign === true ? readBodyToSign : readInput)(body);
  // The captured request already contains the custom headers of hookproof.yaml, or omits them on purpose.
  const headers = given.header === undefined ? [] : (config.partner.headers ?? []);
  const signing = sign === true ? config.partner.signing : undefined;
  const signedUrl = publicUrl ?? config.partner.url;
  const editOf = (captured: CapturedRequest): Edit => {
    const edited = set.length === 0 ? replaced : withFields(replaced ?? captured.body, set);
    return { headers, ...(edited && { body: edited }), signing, url: signedUrl };
  };
  const isEdited = headers.length > 0 || set.length > 0 || replaced !== undefined || signing !== undefined;
  const edited = deliveries.map(({ id, raw }) => {
    const captured = readCaptured(raw);
    if (captured === null && isEdited) {
      throw new HookproofError('REPLAY_NOT_HTTP', `${id} is not a whole HTTP request, so it cannot be changed`, {
        hint: 'Replay it as it is, without `--sign`, `--set`, `--body` and `--header`.',
      });
    }
    return { id, captured, raw, bytes: captured === null || !isEdited ? raw : withEdit(captured, editOf(captured)) };
  });
  printAdvice(config.advice);
  if (curl === true) return printScripts(edited, config.partner);
  if ((set.length > 0 || replaced !== undefined) && signing === undefined) {
    process.stderr.write('note: the body was replaced, but the signature was not: `--sign` creates a new one\n');
  }
  await confirmSending(config, yes, () => `${counted(deliveries.length, 'captured request')}`);
  return sendAll(edited, config, { sign: sign === true, path: url.pathname, signedUrl });
}

/** Returns the given ids, or those that a flag selects, oldest first. */
async function chosenIds(
  folder: string,
  ids: readonly string[],
  { all, last, store }: Pick<ReplayFlags, 'all' | 'last' | 'store'>,
): Promise<readonly string[]> {
  const ways = [ids.length > 0, all === true, last !== undefined].filter(Boolean).length;
  if (ways !== 1) {
    throw new HookproofError('REPLAY_WHICH', 'give the ids of the deliveries, or either `--all` or `--last`', {
      hint: '`hookproof replay --list` lists what is kept. The inspector shows the same ids.',
    });
  }
  if (ids.length > 0) return ids;
  const count = last === undefined ? Number.POSITIVE_INFINITY : numberOfFlag('--last', last, [1, 100_000], BAD_NUMBER);
  const stored = (await listStored(folder)).map(({ id }) => id);
  if (stored.length === 0) {
    throw new HookproofError('DELIVERY_UNKNOWN', `no delivery is kept in ${folder}`, {
      hint: await whyNothingStored(folder, store === undefined),
    });
  }
  return stored.slice(-Math.min(count, stored.length));
}

async function printStored(folder: string, isDefault: boolean): Promise<number> {
  const stored = await listStored(folder);
  if (stored.length === 0) {
    process.stderr.write(`no delivery is kept in ${shownPath(folder)}: ${await whyNothingStored(folder, isDefault)}\n`);
  }
  const answers = await readAnswers(folder);
  for (const { id, size, receivedAt } of stored) {
    const captured = readCaptured(await readStored(folder, id));
    const line = captured === null ? 'not an HTTP request' : `${captured.method} ${captured.target}`;
    const when = receivedAt.toISOString();
    const answer = answerColumn(answers.get(id));
    const bytes = counted(size, 'byte').padStart(12);
    process.stdout.write(`${id}  ${when}  ${bytes}  ${answer}  ${visible(line.slice(0, 120))}\n`);
  }
  return 0;
}

/** Formats an answer as "401 correct", padded to {@link ANSWER_WIDTH}. */
function answerColumn(answer: StoredAnswer | undefined): string {
  if (answer === undefined) return 'not known'.padEnd(ANSWER_WIDTH);
  const { answered } = answer;
  const word = answered === undefined ? '' : ` ${ANSWERED[answered]}`;
  return `${answerInWord(answer)}${word}`.padEnd(ANSWER_WIDTH);
}

const ANSWER_WIDTH = '401 INCORRECT'.length;

interface Replayed {
  readonly id: string;
  /** The parsed request; null if the captured bytes are not one complete HTTP request. */
  readonly captured: CapturedRequest | null;
  readonly raw: Buffer;
  /** The bytes to send. */
  readonly bytes: Buffer;
}

function printScripts(deliveries: readonly Replayed[], partner: Partner): number {
  for (const { id, bytes } of deliveries) {
    const sent = readCaptured(bytes);
    const script = sent === null ? null : curlForCaptured(sent, partner);
    if (script === null) {
      throw new HookproofError('REPLAY_NOT_CURL', `curl cannot send ${id} as it was received`, {
        hint: 'Omit `--curl`: replay sends any bytes.',
      });
    }
    process.stdout.write(`# ${id}, body SHA-256 ${bodyDigest(sent ?? { body: bytes })}\n${script}`);
  }
  return 0;
}

async function sendAll(
  deliveries: readonly Replayed[],
  config: ResolvedConfig,
  { sign, path, signedUrl }: { readonly sign: boolean; readonly path: string; readonly signedUrl: string },
): Promise<number> {
  const { partner, run } = config;
  const scheme = partner.signing?.scheme ?? SERVICE_SCHEME;
  const { lookup } = await pinEndpoint(partner.url, { timeoutMs: run.timeoutMs });
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  const options = { partner: { ...partner, lookup }, timeoutMs: run.timeoutMs };
  let accepted = 0;
  for (const { bytes, captured, id, raw } of deliveries) {
    const sent = readCaptured(bytes);
    for (const request of [captured, sent]) {
      if (request === null || partner.signing === undefined) continue;
      for (const one of signaturesOf(request, { ...partner, url: signedUrl })) redactor.addSignature(one);
    }
    const attempt = await sendCaptured(bytes, options);
    if (hasStatus(scheme.accepts, attempt.answer?.status ?? 0)) accepted += 1;
    const line = captured === null ? 'not an HTTP request' : `${captured.method} ${captured.target}`;
    process.stdout.write(
      redactor.text(
        `${id} ${visible(line.slice(0, 200))}${sign ? ', newly signed' : ''}\n` +
          `  body ${describeBody(captured, sent, raw)}\n  ${describeAnswer(attempt, redactor, scheme)}\n`,
      ),
    );
    if (captured !== null && captured.target !== path && path !== '/') {
      process.stderr.write(`note: ${id} was sent to ${visible(captured.target)}: its own path, not that of \`--to\`\n`);
    }
  }
  process.stdout.write(`${accepted} of ${deliveries.length} answered ${scheme.accepts.join(' or ')}\n`);
  return accepted === deliveries.length ? 0 : 1;
}

/** Returns the correct signature of a request, and in a scheme also those that it has. */
function signaturesOf({ body, headers }: CapturedRequest, partner: Partner): string[] {
  const { scheme } = partner.signing ?? {};
  const given = scheme && readHeaders(scheme, headers);
  const correct = signaturesIn({ headers: signatureLines(body, partner, given) }, partner);
  return scheme === undefined ? correct : [...correct, ...signaturesIn({ headers }, partner)];
}

type Read = ReturnType<typeof readCaptured>;

/** Describes the digest of the sent body, compared with the captured one. */
function describeBody(captured: Read, sent: Read, raw: Buffer): string {
  if (captured === null || sent === null) return `unknown; all bytes: SHA-256 ${bodyDigest({ body: raw })}`;
  const [before, now] = [bodyDigest(captured), bodyDigest(sent)];
  const same = before === now ? 'unchanged' : `changed, was ${before}`;
  return `${counted(sent.body.length, 'byte')}, SHA-256 ${now}, ${same}`;
}
