/** Plays the whole catalogue against one subject, as `hookproof run` would. */
import { outcomeOf } from '../../harness/diagnose/outcome.ts';
import type { ResultDocument } from '../../harness/report/result-document.ts';
import { run } from '../../harness/run/index.ts';
import { startFaultyReceiver } from '../../receiver/faults/index.ts';
import { startReceiver } from '../../receiver/index.ts';
import type { StartedReceiver } from './correct/index.ts';
import { CLIENT_NAME, type Material, rightCertificate, type ServedCertificate } from './material.ts';
import type { Played } from './played.ts';
import type { Subject } from './subject.ts';

/** Long enough for any answer of a receiver on this machine, short enough for one that hangs. */
const LIMITS = { timeoutMs: 5000, recoveryMs: 5000 };

/** Right receivers are never waited for in vain, so they get more time than in a run: a busy machine must not fail them. */
const LIMITS_OF_RIGHT = { timeoutMs: 30_000, recoveryMs: 10_000 };

function start(subject: Subject, material: Material, served: ServedCertificate): Promise<StartedReceiver> {
  const { secret, apiKey, pem } = material;
  const clientCa = pem('client-ca.pem');
  const { cert, key } = served;
  if (subject.kind === 'correct') {
    const tls = { cert, key, clientCa, clientName: CLIENT_NAME };
    return subject.receiver.start({ secret, apiKey, ...(subject.overTls && { tls }) });
  }
  const options = {
    signing: { secrets: [secret] },
    apiKey: { keys: [apiKey] },
    ...(subject.overTls && {
      tls: { cert, key, ca: clientCa, clientCertificate: 'required' as const },
      clientCertificate: { from: 'connection' as const, allowed: [CLIENT_NAME] },
    }),
  };
  return subject.kind === 'right' ? startReceiver(options) : startFaultyReceiver(subject.fault, options);
}

async function certificateFor(subject: Subject, material: Material): Promise<ServedCertificate> {
  if (subject.kind !== 'fault' || subject.fault.stage !== 'connection') return rightCertificate(material);
  const { certificate } = subject.fault;
  return certificate === undefined ? rightCertificate(material) : material.faulty(certificate);
}

/**
 * The suites that a subject plays; all when empty. Of a mutant of the connection alone everything that is delivered meets the right pipeline,
 * and over TLS that would take most of the time.
 */
function suitesFor(subject: Subject): readonly string[] {
  if (subject.kind !== 'fault' || (subject.fault.area !== 'tls' && subject.fault.area !== 'mtls')) return [];
  return subject.fault.needs?.includes('hmac') || subject.fault.needs?.includes('api-key')
    ? []
    : ['valid', 'tls', 'mtls', 'combination', 'delivery'];
}

/** The result document of a run against a subject, of all scenarios or of those named. Rejects when the subject cannot be started. */
export async function runAgainst(
  subject: Subject,
  material: Material,
  scenarios: readonly string[] = [],
): Promise<ResultDocument> {
  const { secret, apiKey, pem, clientFixtures } = material;
  const served = await certificateFor(subject, material);
  const receiver = await start(subject, material, served);
  const concurrency = subject.kind === 'correct' ? subject.receiver.concurrency : undefined;
  try {
    return await run({
      partner: {
        url: subject.overTls ? receiver.url.replace('127.0.0.1', served.host) : receiver.url,
        signing: { secret },
        apiKey: { value: apiKey },
        ...(subject.overTls && {
          tls: { ca: served.ca, clientCert: pem('client.pem'), clientKey: pem('client-key.pem') },
        }),
      },
      ...(subject.overTls && { clientFixtures }),
      selection: { suites: scenarios.length > 0 ? [] : suitesFor(subject), scenarios },
      limits: {
        ...(subject.kind === 'fault' ? LIMITS : LIMITS_OF_RIGHT),
        ...(concurrency !== undefined && { concurrency }),
      },
    });
  } finally {
    await receiver.close();
  }
}

/** The codes of results that a stopped run did not get to. */
const STOPS: readonly (readonly [string, NonNullable<Played['stopped']>])[] = [
  ['preflight-failed', 'gate'],
  ['receiver-down', 'down'],
  ['rate-limited', 'rate-limited'],
];

/** The finding in the reason why nothing else was judged: "... was not accepted (401): the endpoint ...". */
function findingIn(reason: string): string | null {
  return /^the plain valid delivery was not accepted \(.*?\): (.+)$/s.exec(reason)?.[1] ?? null;
}

/** What the matrix keeps of a run. */
export function playedOf({ name, kind }: Subject, { results, target, durationMs }: ResultDocument): Played {
  const outcomes: Record<string, string> = {};
  const undecided: Record<string, string> = {};
  const codes = new Set<string>();
  let judged = 0;
  for (const result of results) {
    if (result.verdict === 'not-applicable') continue;
    const outcome = outcomeOf(result);
    if (outcome === undefined) {
      undecided[result.id] = result.reason;
      codes.add(result.decidedBy ?? '');
    } else judged++;
    if (typeof outcome === 'string') outcomes[result.id] = outcome;
  }
  const reasons = Object.values(undecided);
  const stopped = STOPS.find(([code]) => codes.has(code))?.[1] ?? null;
  // Not the diagnosis, which may come from the dictionary itself.
  const found = stopped === 'gate' ? (reasons.map(findingIn).find((finding) => finding !== null) ?? null) : null;
  // The dates of a certificate are others in each run.
  const refusal = found?.replace(/\d{4}-\d\d-\d\d(?:t[\d:.]+z|, \d+ days ago)?/gi, 'a date') ?? null;
  const short = Object.fromEntries(Object.entries(undecided).map(([id, reason]) => [id, reason.slice(0, 120)]));
  return { name, kind, durationMs, features: target.features, outcomes, undecided: short, stopped, refusal, judged };
}
