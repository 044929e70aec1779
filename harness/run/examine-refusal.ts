/**
 * Determines why the first delivery was rejected, or answered by something other than the handler. Sends forgeries,
 * signatures with known signing mistakes, other kinds of notification, and another Host header.
 */

import { sameHeaderName } from '../../contract/index.ts';
import { type Change, findScenario, type RequestHead } from '../../scenarios/index.ts';
import {
  acceptsForgeries,
  answersByTimeout,
  configuredCredentials,
  explainAfter,
  explainBefore,
  explainPreflight,
  explainRejection,
  explainWords,
  type Finding,
  limitsDeliveries,
  type PreflightAttempts,
  rejectsCredentials,
  stageOf,
  underscoreIn,
  waitsAfterCheck,
} from '../diagnose/index.ts';
import { type Credential, describeAttempt, isAccepted } from '../judge/index.ts';
import type { Partner } from '../partner.ts';
import type { Attempt } from '../transport/index.ts';
import type { RunContext } from './context.ts';
import { createKit, headerNamesOf } from './kit.ts';
import type { Lane, LanePool, SendOptions } from './lane.ts';
import { findOtherControl, findOtherForm, type OtherControl } from './other-control.ts';
import { type SentDelivery, sendControl, sendProbe } from './send.ts';

/** The result of the first deliveries: why no others are sent, or the control with which the run continues. */
export interface Opening {
  readonly finding: Finding | null;
  readonly other: OtherControl | null;
  /** Forgeries that the endpoint accepted. Each of them is a check of the catalogue. */
  readonly forgeries: readonly Forgery[];
}

interface Forgery {
  readonly id: string;
  /** What was forged, in words. */
  readonly what: string;
  readonly sent: SentDelivery;
}

export function withFinding(finding: Finding | null, forgeries: readonly Forgery[] = []): Opening {
  return { finding, other: null, forgeries };
}

/** For each credential, the checks that send none, an empty one, and an invalid one in the usual form. */
const FORGERIES = {
  signature: ['signature/missing', 'signature/empty', 'signature/other-secret'],
  'api-key': ['api-key/missing', 'api-key/empty', 'api-key/wrong'],
} as const;
const WHAT = {
  signature: ['no signature', 'an empty signature', 'a wrong signature'],
  'api-key': ['no API key', 'an empty API key', 'a wrong API key'],
} as const;

const MALFORMED = 'malformed/truncated';
/** Sends well-formed JSON, which a parser in front of the receiver does not reject. */
const NOTHING_IN_IT = 'malformed/empty-object';

function credentialsIn({ signing, apiKey }: Partner): Credential[] {
  return [...(signing ? (['signature'] as const) : []), ...(apiKey ? (['api-key'] as const) : [])];
}

/**
 * Sends the delivery of a check once. By default, the delivery gets a new connection. `change` replaces the change of
 * the check.
 */
export async function sendCheck(
  context: RunContext,
  lane: Lane,
  id: string,
  options: SendOptions = { fresh: true },
  change?: Change,
): Promise<SentDelivery> {
  const { partner, seed, now, onSignature } = context;
  const scenario = findScenario(id);
  if (scenario === undefined || !('change' in scenario)) throw new RangeError(`${id} is not one delivery`);
  const kit = createKit(partner, seed, id, now, onSignature);
  return sendProbe(context, lane, { ...scenario, ...(change && { change }), label: 'probe' }, kit, options);
}

/**
 * Sends forgeries of each credential to determine at which stage the first delivery was rejected. Stops at the first
 * credential for which the stage is not `after`.
 */
async function examineCredentials(context: RunContext, lanes: LanePool, { first, second }: PreflightAttempts) {
  const credentials = credentialsIn(context.partner);
  const lane = lanes.at(0);
  for (const [at, credential] of credentials.entries()) {
    const forge = async (id: string, index: number, on: Lane): Promise<Forgery> => ({
      id,
      what: WHAT[credential][index] ?? '',
      sent: await sendCheck(context, on, id),
    });
    const forged: Forgery[] = isSlow(first)
      ? await Promise.all(FORGERIES[credential].map((id, index) => forge(id, index, lanes.at(index))))
      : [];
    for (const [index, id] of FORGERIES[credential].entries()) forged[index] ??= await forge(id, index, lane);
    const [missing, , wrong] = forged.map(({ sent }) => sent.attempt);
    if (missing === undefined || wrong === undefined) continue;
    const refusal = { first, second: second ?? first, missing, wrong };
    let stage = stageOf(refusal);
    if (stage === 'after' && credential === 'signature') {
      // Some receivers reject certain characters, whatever the signature is.
      const { attempt } = await sendCheck(context, lane, FORGERIES.signature[2], undefined, SAME_FORM);
      stage = stageOf({ ...refusal, wrong: attempt });
    }
    const isLast = at === credentials.length - 1;
    if (stage !== 'after' || isLast) return { refusal, stage, credential, forged };
  }
  return null;
}

/**
 * An invalid signature that contains + and /, as that of the first delivery does. Some receivers reject these
 * characters.
 */
const SAME_FORM: Change = {
  sign: {
    label: 'a random signature with + and /',
    make: (_body, kit) => {
      for (;;) {
        const made = kit.bytes(32).toString('base64');
        if (made.includes('+') && made.includes('/')) return made;
      }
    },
  },
};

/** Determines why the first delivery was rejected, or finds another notification to use as the control. */
export async function examineRefusal(
  context: RunContext,
  lanes: LanePool,
  preflight: PreflightAttempts,
): Promise<Opening> {
  const { partner, signal } = context;
  const { throttling } = context.facts;
  const { first } = preflight;
  const lane = lanes.at(0);
  const untilMs = performance.now() + (isSlow(first) ? MAX_SLOW_EXAMINATION_MS : Number.POSITIVE_INFINITY);
  const status = describeAttempt(first);
  const code = first.answer?.status ?? 0;
  const kit = createKit(partner, context.seed, 'diagnosis', context.now, context.onSignature);
  const send = async (change: Change, authentic = true, at = 0): Promise<Attempt> => {
    const expect = { text: 'any', authentic, pass: [] };
    return (await sendProbe(context, lanes.at(at), { label: 'diagnosis', change, expect }, kit)).attempt;
  };
  const isOver = () => signal.aborted || throttling.limit !== null || performance.now() > untilMs;

  const shown = await examineCredentials(context, lanes, preflight);
  const { refusal, stage, credential, forged } = shown ?? {
    refusal: null,
    stage: 'before',
    credential: null,
    forged: [],
  };
  const [, empty] = forged;
  const alike = [first, preflight.second ?? first, ...(empty ? [empty.sent.attempt] : []), refusal?.wrong ?? first];
  const accepted = forged.filter(({ sent }) => isAccepted(sent.attempt));
  if (empty !== undefined && first.answer !== null && !CREDENTIALS_REFUSED.has(code) && isByTimer(alike)) {
    return withFinding(answersByTimeout(code, first.timings.totalMs, first.answer.body), accepted);
  }
  const open = accepted.length > 0 && !isAccepted(await send({})) ? accepted : [];
  // An endpoint that accepts wrong signatures would accept a signature with any mistake.
  const acceptsWrong = refusal !== null && isAccepted(refusal.wrong);
  if (code >= 400 && (stage !== 'after' || open.length > 0) && !acceptsWrong) {
    const found = await explainRejection(partner, send, isOver, isSlow(first) ? SLOW_WIDTH : 1);
    if (found !== null) return withFinding(found, open);
  }
  if (open.length > 0) {
    const what = open.map((one) => one.what);
    return withFinding(acceptsForgeries(what, status, acceptsWrong ? null : credential), open);
  }
  if (throttling.limit !== null) return withFinding(limitsDeliveries(throttling.limit));
  const isLikeInvalid = stage !== 'after' && code === 401;
  const form = isLikeInvalid || code < 400 ? null : await findOtherForm(send, status, isOver);
  const other = isOver() ? null : await findOtherControl(context, lane, status, isLikeInvalid);
  if (other !== null) {
    return { finding: null, other: { ...other, finding: form ?? other.finding }, forgeries: [] };
  }
  if (form !== null) return withFinding(form);
  if (refusal !== null && stage === 'after') return withFinding(explainAfter(refusal, configuredCredentials(partner)));

  const names = headerNamesOf(partner);
  for (const name of [partner.signing && names.signature, partner.apiKey && names.apiKey]) {
    if (name?.includes('_') !== true || code < 400) continue;
    const without = await send({ address: { label: `without ${name}`, make: withoutHeader(name) } }, false);
    const all = { first, second: preflight.second ?? first, missing: without, wrong: first };
    if (stageOf(all) === 'before') return withFinding(underscoreIn(name, status));
  }
  const words = code < 400 ? null : explainWords(first, partner);
  if (words !== null) return withFinding(words);
  if (refusal !== null && stage === 'before' && !isOver()) {
    const { hostname } = new URL(partner.url);
    const host = hostname === 'localhost' ? '127.0.0.1' : 'localhost';
    const otherHost = await send({ address: { label: `Host: ${host}`, make: withHost(host) } });
    const get = await send({ address: { label: 'GET', make: (head) => ({ ...head, method: 'GET' }) } });
    const found = explainBefore(first, { host, otherHost, get });
    if (found !== null) return withFinding(found);
  }
  if (refusal !== null && stage === 'at' && code >= 400 && code < 500) {
    // A receiver that rejects the payload before it checks credentials answers a truncated body differently.
    const { attempt } = await sendCheck(context, lane, MALFORMED);
    const isPayload = stageOf({ ...refusal, wrong: attempt }) === 'after';
    if (!isPayload) return withFinding(rejectsCredentials(code, configuredCredentials(partner)));
  }
  return withFinding(explainPreflight(preflight, configuredCredentials(partner), stage));
}

/** Determines why the first delivery got no answer. If an unsigned delivery gets one, the process is not blocked. */
export async function examineSilence(context: RunContext, lane: Lane, preflight: PreflightAttempts): Promise<Opening> {
  const found = explainPreflight(preflight, configuredCredentials(context.partner));
  const [credential] = credentialsIn(context.partner);
  if (found?.fault !== 'never-answers' || credential === undefined) return withFinding(found);
  const [[id], [what]] = [FORGERIES[credential], WHAT[credential]];
  const sent = await sendCheck(context, lane, id);
  const { answer } = sent.attempt;
  const isRefused = answer !== null && answer.status >= 400 && answer.status < 500;
  const accepted = isAccepted(sent.attempt) ? [{ id, what, sent }] : [];
  return withFinding(isRefused ? waitsAfterCheck(what, answer.status) : found, accepted);
}

function withoutHeader(wanted: string) {
  return (head: RequestHead): RequestHead => ({
    ...head,
    headers: head.headers.filter(([name]) => !sameHeaderName(name, wanted)),
  });
}

/** Replaces the host in the Host header and keeps its port. */
function withHost(host: string) {
  return (head: RequestHead): RequestHead => ({
    ...head,
    headers: head.headers.map(([name, value]) =>
      sameHeaderName(name, 'Host') ? [name, value.replace(/^(?:\[.*\]|[^:]*)/, host)] : [name, value],
    ),
  });
}

/** Answers that take longer than this are slow. */
const SLOW_MS = 2000;
/** Slow answers took the same time if they differ by less than this share, or by less than `SAME_MS`. */
const SAME_SHARE = 0.05;
const SAME_MS = 200;
/** Maximum time to examine a slow rejection, after the forgeries, and number of concurrent deliveries meanwhile. */
const MAX_SLOW_EXAMINATION_MS = 25_000;
const SLOW_WIDTH = 8;
/**
 * These statuses do not show a timeout: a receiver with slow credential checks takes equally long for all invalid
 * credentials.
 */
const CREDENTIALS_REFUSED: ReadonlySet<number> = new Set([401, 403]);

const isSlow = ({ timings }: Pick<Attempt, 'timings'>) => timings.totalMs > SLOW_MS;

/** Returns whether all answers are slow, have the same status and took the same time. */
export function isByTimer(attempts: readonly Pick<Attempt, 'answer' | 'timings'>[]): boolean {
  const times = attempts.map(({ timings }) => timings.totalMs);
  const longest = Math.max(...times);
  return (
    attempts.every(isSlow) &&
    new Set(attempts.map(({ answer }) => answer?.status)).size === 1 &&
    longest - Math.min(...times) < Math.max(SAME_MS, SAME_SHARE * longest)
  );
}

/**
 * Determines whether slow answers come from a timeout instead of the handler: then all deliveries get the same status
 * after the same time.
 */
export async function examineSlowAnswer(
  context: RunContext,
  lanes: LanePool,
  { attempt: first }: SentDelivery,
): Promise<Opening> {
  const { answer, timings } = first;
  const [credential] = credentialsIn(context.partner);
  if (answer === null || credential === undefined || !isSlow(first)) return withFinding(null);
  const [missing, , wrong] = FORGERIES[credential];
  const forged = await sendCheck(context, lanes.at(0), wrong);
  if (!isByTimer([first, forged.attempt])) return withFinding(null);
  const [unsigned, ...others] = await Promise.all([
    sendCheck(context, lanes.at(1), missing),
    sendCheck(context, lanes.at(2), NOTHING_IN_IT),
    sendControl(context, lanes.at(3), 'the first delivery, again', { fresh: true }),
  ]);
  // The unsigned delivery is not compared, because a middleware may reject a missing header at once.
  if (!isByTimer([first, forged.attempt, ...others.map(({ attempt }) => attempt)])) return withFinding(null);
  const [unsignedWords, , forgedWords] = WHAT[credential];
  const forgeries = [
    { id: missing, what: unsignedWords, sent: unsigned },
    { id: wrong, what: forgedWords, sent: forged },
  ];
  return withFinding(
    answersByTimeout(answer.status, timings.totalMs, answer.body),
    forgeries.filter(({ sent }) => isAccepted(sent.attempt)),
  );
}
