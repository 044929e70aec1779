/** Documents about many partners, for tests of the page and the table. */
import {
  type FleetDocument,
  type FleetPartner,
  namesDigest,
  type PartnerOutcome,
  totalsOf,
} from '../../../harness/fleet.ts';
import { makeRecord, type Standing, type State } from '../../../harness/register/index.ts';
import type { FleetView } from '../../../harness/report/html/fleet-page.ts';
import { CATALOGUE } from '../../../scenarios/index.ts';

const NONE = { pass: 0, fail: 0, warn: 0, inconclusive: 0, notApplicable: 0, harnessError: 0 };
const VERDICT = {
  certified: 'conformant',
  failed: 'nonconformant',
  refused: 'conformant',
  inconclusive: 'inconclusive',
  'not-run': null,
  'harness-error': null,
} as const;

/** Creates a partner. Its figures are derived from `at`. */
export function partnerWith(
  name: string,
  outcome: PartnerOutcome,
  at: number,
  parts: Partial<FleetPartner> = {},
): FleetPartner {
  const verdict = VERDICT[outcome];
  const suites = CATALOGUE.map((suite, place) => {
    const total = suite.scenarios.length;
    if (suite.name === 'mtls' || suite.name === 'api-key')
      return [suite.name, { ...NONE, notApplicable: total }] as const;
    if (outcome === 'inconclusive') return [suite.name, { ...NONE, inconclusive: total }] as const;
    const fail = outcome === 'failed' && (place + at) % 3 === 0 ? 1 + ((at * 7 + place) % 30) : 0;
    const warn = (place + at) % 11 === 0 ? 2 : 0;
    return [suite.name, { ...NONE, fail, warn, pass: Math.max(0, total - fail - warn) }] as const;
  });
  const counts = suites.reduce(
    (sum, [, one]) =>
      Object.fromEntries(
        Object.entries(one).map(([key, value]) => [key, value + sum[key as keyof typeof NONE]]),
      ) as typeof NONE,
    NONE,
  );
  return {
    name,
    url: `https://${name}.example/webhooks/orders`,
    profile: 'staging',
    revision: 1,
    outcome,
    verdict,
    counts: verdict === null ? null : counts,
    suites: verdict === null ? {} : Object.fromEntries(suites),
    diagnosis:
      outcome === 'failed'
        ? {
            fault: 'verifies-reserialised-json',
            title: 'It verifies the signature of re-serialised JSON, not of the bytes that came.',
          }
        : null,
    evidenceLevel: verdict === null ? null : 0,
    certificate:
      outcome === 'certified' ? { issuedAt: '2026-11-21T20:00:00.000Z', expiresAt: '2027-02-19T20:00:00.000Z' } : null,
    refusals:
      outcome === 'certified' || outcome === 'not-run'
        ? []
        : [
            {
              code: 'not-judged',
              message: '556 scored checks are without a verdict: valid/plain and 555 more',
              fix: 'See the report.',
            },
            { code: 'endpoint-key-unknown', message: 'the key could not be read before the run', fix: 'Look at it.' },
          ],
    files:
      verdict === null
        ? []
        : ['run.json', 'report.html', ...(outcome === 'certified' ? ['certificate.dsse.json'] : [])],
    startedAt: '2026-11-21T20:00:00.000Z',
    durationMs: 2000 + ((at * 977) % 9000),
    previous: null,
    ...parts,
  };
}

export function fleetWith(partners: readonly FleetPartner[], parts: Partial<FleetDocument> = {}): FleetDocument {
  return {
    schemaVersion: 1,
    kind: 'hookproof-fleet',
    tool: { name: 'hookproof', version: '0.1.0' },
    catalogue: { digest: `sha256:${'ab'.repeat(32)}` },
    settings: {
      profile: null,
      revision: null,
      evidenceLevel: null,
      strict: false,
      validForDays: 90,
      partners: partners.length,
      names: namesDigest(partners.map(({ name }) => name)),
    },
    shard: null,
    startedAt: '2026-11-21T20:00:00.000Z',
    durationMs: 312_000,
    complete: true,
    previous: null,
    totals: totalsOf(partners),
    partners: [...partners],
    ...parts,
  };
}

/** Creates the standing of a partner in the register. Its figures are derived from `at`. */
export function standingWith(partner: string, state: State, at: number, parts: Partial<Standing> = {}): Standing {
  const outcome =
    state === 'certified' || state === 'allowed' ? 'certified' : state === 'failing' ? 'failed' : 'inconclusive';
  const { diagnosis: cause, suites, url } = partnerWith(partner, outcome, at);
  const isAllowed = state === 'certified' || state === 'allowed';
  const last = makeRecord({
    ...{ partner, url, suites, cause, event: outcome, catalogue: `sha256:${'ab'.repeat(32)}`, version: '0.1.0' },
    at: '2026-11-21T20:00:00.000Z',
  });
  return {
    partner,
    state,
    mayGetTraffic: isAllowed,
    since: state === 'uncertified' ? null : '2026-11-21T20:00:00.000Z',
    until: isAllowed ? '2027-02-19T20:00:00.000Z' : null,
    reason: isAllowed ? null : (cause?.title ?? 'no certificate was ever issued'),
    certificate: isAllowed
      ? {
          ...{ kind: 'certificate', partner, url, certificate: 'c'.repeat(64), keyId: 'd'.repeat(64) },
          ...{ issuedAt: '2026-11-21T20:00:00.000Z', expiresAt: '2027-02-19T20:00:00.000Z' },
          ...{ profile: 'staging', revision: 2, evidenceLevel: 1 },
        }
      : null,
    grant: null,
    warnings: [],
    last: [last],
    ...parts,
  };
}

export function viewWith(standings: readonly Standing[], parts: Partial<FleetView> = {}): FleetView {
  const files = new Map(
    standings.map(({ partner }) => [partner, ['run.json', 'report.html', 'certificate.dsse.json']]),
  );
  return { at: '2026-11-21T20:00:00.000Z', standings, changes: null, files, caveats: [], ...parts };
}

const STATES: readonly State[] = [
  ...(['certified', 'certified', 'failing', 'certified', 'uncertified', 'certified', 'drifted', 'expired'] as const),
];
const WORDS = [
  'acme',
  'borealis',
  'cascade',
  'delta-pay',
  'ember',
  'fjord-exchange',
  'granite',
  'harbour-and-sons-payments',
];

/** Creates this many partners in every state, with earlier results to compare with. */
export function largeFleet(count = 300): FleetView {
  const standings = Array.from({ length: count }, (_, at) => {
    const state = at % 71 === 70 ? 'revoked' : (STATES[(at * 5 + Math.floor(at / 9)) % STATES.length] ?? 'certified');
    const warnings = at % 23 === 0 ? ['the last run (2026-11-21) had no verdict: the endpoint is unreachable'] : [];
    return standingWith(`${WORDS[at % WORDS.length]}-${at + 1}`, state, at, { warnings });
  });
  const changed = standings.filter((_, at) => at % 17 === 0).map((now) => ({ now, before: null }));
  return viewWith(standings, { changes: { since: '2026-11-14T20:00:00.000Z', changed } });
}
