/** Explains an endpoint that is wrong as a whole, from the results of a run. Pure. */
import type { RunObservations } from '../../scenarios/index.ts';
import type { Diagnosis, ScenarioResult } from '../result/result-document.ts';
import type { Finding } from './finding.ts';
import { explainClientCertificates } from './tls-findings.ts';

/** A fault is named when this share of the outcomes that can tell agrees with it. */
const MOST = 0.8;

interface Pattern extends Finding {
  /** The results that can tell this fault from a right receiver. */
  readonly tells: (result: ScenarioResult) => boolean;
  /** Whether such a result is what this fault would give. */
  readonly agrees: (result: ScenarioResult) => boolean;
}

const wasJudged = ({ verdict }: ScenarioResult) => verdict === 'pass' || verdict === 'fail' || verdict === 'warn';
const wasAccepted = (result: ScenarioResult) => result.verdict !== 'inconclusive' && /^2\d\d/.test(result.observed);
const inSuites =
  (...names: string[]) =>
  (result: ScenarioResult) =>
    names.includes(result.suite) && result.expected.startsWith('401');

/** Bodies that no serialiser writes again as they were, whatever the language. */
const RESERIALISERS_DIFFER: ReadonlySet<string> = new Set(
  [
    'spaces',
    'indent-4',
    'tabs',
    'trailing-lf',
    'leading-space',
    'mixed-space',
    'trailing-zero',
    'exponent',
    'long-decimal',
  ].map((slug) => `raw-body/${slug}`),
);

const CREDENTIALS = inSuites('signature', 'api-key', 'combination');

const PATTERNS: readonly Pattern[] = [
  {
    fault: 'accepts-everything',
    title: 'The endpoint accepts everything: nothing is checked',
    tells: CREDENTIALS,
    agrees: wasAccepted,
    why: 'Forged, tampered and unsigned deliveries get the same 200 as right ones. Whoever knows the URL can make you believe that money arrived. Usual causes: a placeholder handler, a check that is never awaited, or an answer sent before the check.',
    fix: 'Verify signature and key first, and answer 401 at once when either is wrong or missing. The reference receiver shows the order of the steps.',
  },
  {
    fault: 'signature-not-checked',
    title: 'The signature is not checked',
    tells: inSuites('signature'),
    agrees: wasAccepted,
    why: 'Deliveries with no or any signature are accepted, so the body can be forged and altered by anybody.',
    fix: 'Compute HMAC-SHA256 over the raw body, compare it with the header in constant time, and answer 401 when it differs or is missing.',
  },
  {
    fault: 'api-key-not-checked',
    title: 'The API key is not checked',
    tells: inSuites('api-key'),
    agrees: wasAccepted,
    why: 'Deliveries with no or any key are accepted: the key protects nothing.',
    fix: 'Compare the header with the stored key in constant time, and answer 401 when it differs or is missing.',
  },
  {
    fault: 'verifies-reserialised-json',
    title: 'The signature is verified over JSON that was parsed and written again',
    tells: ({ id }) => RESERIALISERS_DIFFER.has(id),
    agrees: ({ observed }) => observed.startsWith('401') || observed.startsWith('403') || observed.startsWith('400'),
    why: 'Right signatures are refused as soon as the body is not exactly what your JSON library would write. It works with one sender and fails with the first different space, number or escape.',
    fix: 'Verify over the bytes as they arrived, before any JSON parsing: in Express, `express.raw({ type: () => true })` and the HMAC over `req.body`; parse afterwards.',
  },
];

function count(pattern: Pattern, results: readonly ScenarioResult[]): Diagnosis | null {
  const telling = results.filter((result) => pattern.tells(result) && wasJudged(result));
  const agreement = telling.filter(pattern.agrees).length;
  if (telling.length < 3 || agreement / telling.length < MOST) return null;
  const { fault, title, why, fix } = pattern;
  return { fault, title, agreement, outcomes: telling.length, why, fix };
}

function ofOutages(outages: RunObservations['outages']): Diagnosis | null {
  const [first] = outages;
  if (first === undefined) return null;
  const culprits = [...new Set(outages.flatMap(({ culprit }) => (culprit === null ? [] : [culprit])))];
  const stayedDown = outages.some(({ recovered }) => !recovered);
  const named = culprits.length > 0 ? culprits.slice(0, 5).join(', ') : `one of ${first.inFlight.join(', ')}`;
  const more = culprits.length > 5 ? ` and ${culprits.length - 5} more` : '';
  return {
    fault: stayedDown ? 'dies-and-stays-down' : 'dies-and-is-restarted',
    title: stayedDown
      ? 'A single delivery stops the receiver, and it does not come back'
      : 'Single deliveries stop the receiver until it is restarted',
    agreement: outages.length,
    outcomes: outages.length,
    why: `The receiver stopped answering after: ${named}${more}. An exception that nobody catches ends the process, so anybody can switch the receiver off.`,
    fix: `Catch errors around parsing and around every asynchronous step, and answer 400. In Express 4 an async handler needs its own try/catch; Express 5 does it for you.${culprits.length > 0 ? '' : ' To find the delivery that does it, run again with `--concurrency 1`, or let a supervisor restart the receiver.'}`,
  };
}

/** Forged deliveries that were accepted, by an endpoint that refuses others: the most dangerous thing there is to say. */
function ofAcceptances(results: readonly ScenarioResult[]): Diagnosis | null {
  const telling = results.filter((result) => CREDENTIALS(result) && result.level === 'must' && wasJudged(result));
  const accepted = telling.filter(wasAccepted);
  if (accepted.length === 0) return null;
  const named = accepted.slice(0, 3).map(({ id }) => id);
  const missing = accepted.some(({ id }) => id === 'signature/missing' || id === 'api-key/missing');
  return {
    fault: missing ? 'missing-credential-let-through' : 'forged-deliveries-accepted',
    title: `${accepted.length === 1 ? 'A forged delivery was' : `${accepted.length} forged deliveries were`} accepted: ${named.join(', ')}${accepted.length > 3 ? ', ...' : ''}`,
    agreement: accepted.length,
    outcomes: telling.length,
    why: missing
      ? 'A check such as `if (header && !valid)` lets everybody in who leaves the header out. Whoever knows the URL can make you believe that money arrived.'
      : 'Whoever finds this out can make you believe that money arrived. Mend it before anything else.',
    fix: missing
      ? 'Treat a missing header like a wrong one: `if (!header || !valid)` answers 401.'
      : 'See the failures whose reason begins with "accepted": each names the one thing that was wrong with the delivery.',
  };
}

/** Refusals that are right but for their status, and crashes on payloads: one cause behind many failures. */
function ofStatuses(results: readonly ScenarioResult[]): Diagnosis[] {
  const found: Diagnosis[] = [];
  const refusals = results.filter((result) => CREDENTIALS(result) && wasJudged(result));
  for (const status of ['403', '400', '404', '422', '500']) {
    const same = refusals.filter(({ observed }) => observed === status);
    if (same.length < 10 || same.length < refusals.length / 2) continue;
    found.push({
      fault: `refuses-with-${status}`,
      title: `Wrong credentials are refused with ${status}; 401 is agreed`,
      agreement: same.length,
      outcomes: refusals.length,
      why: 'The refusals themselves are right: only the status is not. A sender tells "wrong credentials" from other troubles by it.',
      fix:
        status === '500'
          ? 'Catch what the check throws, and answer 401.'
          : `Answer 401 in place of ${status}, in the one place where credentials are refused.`,
    });
  }
  const payloads = results.filter(
    (result) => result.suite === 'malformed' && result.expected.includes('4xx') && wasJudged(result),
  );
  const crashes = payloads.filter(({ observed }) => /^5\d\d/.test(observed));
  if (crashes.length >= 5) {
    found.push({
      fault: 'malformed-ends-in-5xx',
      title: 'Malformed payloads end in a 5xx: the handler throws',
      agreement: crashes.length,
      outcomes: payloads.length,
      why: 'The payload is parsed or read without a guard, and the framework answers for the exception. The sender takes a 5xx for trouble that passes, and may send the same again and again.',
      fix: 'Put parsing and validation inside a guard that answers 400, and check types before fields are read.',
    });
  }
  return found;
}

/** What the endpoint behaves like, the most telling first. Empty when nothing fits. */
export function explainRun(results: readonly ScenarioResult[], outages: RunObservations['outages']): Diagnosis[] {
  const down = ofOutages(outages);
  const found = PATTERNS.map((pattern) => count(pattern, results)).filter((diagnosis) => diagnosis !== null);
  const everything = found.some(({ fault }) => fault === 'accepts-everything');
  const kept = everything ? found.filter(({ fault }) => !fault.endsWith('-not-checked')) : found;
  const known = kept.some(({ fault }) => fault !== 'verifies-reserialised-json');
  const accepted = known ? null : ofAcceptances(results);
  const certificates = explainClientCertificates(results);
  return [down, certificates, accepted].filter((diagnosis) => diagnosis !== null).concat(kept, ofStatuses(results));
}
