/**
 * Recognises known mistakes directly from the facts of a run: which credential or part of a request is enough, and what
 * an acceptance means. No similar mutant is needed. All functions are pure.
 */
import { findMistake, type MistakeId } from '../../contract/mistakes/index.ts';
import { PREFLIGHT_SCENARIO } from '../judge/index.ts';
import { groupBy } from '../report/index.ts';
import type { Diagnosis, Exchange, ScenarioResult } from '../report/result-document.ts';
import type { Fact } from './facts.ts';
import { findingOf, shownBy } from './finding.ts';
import { STEADY } from './overlap.ts';
import { cellsOf } from './traits.ts';

interface Pattern {
  readonly title: string;
  readonly mistake: MistakeId;
  readonly facts: readonly Fact[];
  /** The number of facts that could show the pattern. */
  readonly of?: number;
}

/** Returns the patterns in the facts, the most comprehensive first. */
export function patternsOf(facts: readonly Fact[], results: readonly ScenarioResult[]): Diagnosis[] {
  return [...rejectionsWithSuccess(forgedOf(facts)), ...perProcess(facts, results), ...intermittent(facts)].map(
    diagnosed,
  );
}

/** Finds what suffices for a forgery: a credential that anyone can make, or one part of the request. */
export function whatSuffices(facts: readonly Fact[], results: readonly ScenarioResult[]): Diagnosis[] {
  const forged = forgedOf(facts);
  return [...plain(forged, results), ...hints(forged)].map(diagnosed);
}

const forgedOf = (facts: readonly Fact[]) => facts.filter(({ harm, isFailure }) => harm === 'forged' && isFailure);

const diagnosed = ({ title, mistake, facts, of }: Pattern) =>
  shownBy(
    findingOf(mistake, title, mistake),
    facts.map(({ id }) => id),
    of,
  );

const textOf = (exchange: Exchange | undefined) => exchange?.response?.body.text?.trim() ?? '';
const MOST = 0.8;
const REFUSAL = new RegExp(
  `\\b(?:${[
    'warning|error|exception|invalid|mismatch|unauthorized|unauthorised|forbidden|denied|rejected',
    'not satisfied|not allowed|not valid',
  ].join('|')})\\b`,
  'i',
);

/** Finds forgeries answered 2xx with the text of a rejection, while valid deliveries get another text. */
function rejectionsWithSuccess(forged: readonly Fact[]): Pattern[] {
  const saysNo = forged.filter(({ result }) => {
    const accepted = textOf(result.exchanges.find(({ role }) => role === 'control'));
    const answer = textOf(
      result.exchanges.find(({ role, label }) => role === 'probe' && label === (result.delivery ?? label)),
    );
    return answer !== accepted && REFUSAL.test(answer) && !REFUSAL.test(accepted);
  });
  if (saysNo.length === 0 || saysNo.length < forged.length * MOST) return [];
  const status = saysNo[0]?.result.answered?.status ?? 200;
  const title = `Answers ${status} to forged deliveries, with a text that rejects them`;
  return [{ title, mistake: 'refused-with-success', facts: saysNo, of: forged.length }];
}

/**
 * Finds notifications that each of several processes handles once: a duplicate on another connection is handled again.
 */
function perProcess(facts: readonly Fact[], results: readonly ScenarioResult[]): Pattern[] {
  const isOnceOnOne = results.some(({ id, verdict }) => id === IN_TURN && verdict === 'pass');
  const repeated = facts.filter(({ result }) => result.outcome === 'handled-twice');
  const timesOf = (id: string) =>
    Math.max(
      0,
      ...repeated.filter((one) => one.id === id).flatMap(({ result }) => (result.effects ?? []).map(timesIn)),
    );
  const [onNew, atOnce] = [ON_NEW_CONNECTIONS, AT_ONCE].map(timesOf);
  if (!isOnceOnOne || onNew === 0) return [];
  const both = atOnce === 0 ? '' : `, and ${atOnce} times when sixteen arrive together`;
  const title = `Remembers ids per process: handles eight copies on new connections ${onNew} times${both}`;
  return [{ title, mistake: 'ids-kept-in-memory', facts: repeated }];
}

const IN_TURN = 'effects/copies-in-turn';
const ON_NEW_CONNECTIONS = 'effects/copies-on-new-connections';
const AT_ONCE = 'effects/copies-at-once';
const timesIn = ({ times }: NonNullable<ScenarioResult['effects']>[number]) => times;

/** Finds valid deliveries that fail although the receiver accepts the same deliveries at other times. */
function intermittent(facts: readonly Fact[]): Pattern[] {
  // The preflight has already accepted the plain delivery once.
  const plain = facts.find(({ id, harm }) => id === PREFLIGHT_SCENARIO && harm === 'refuses');
  const observed = facts.find(({ id }) => id === STEADY);
  const steady = observed ?? plain;
  if (steady === undefined) return [];
  const flows = facts.filter(({ harm, result }) => harm !== 'forged' && result.delivery !== null);
  const refused = flows.filter(({ harm }) => harm === 'refuses');
  const others = refused.some(({ isFailure }) => isFailure) ? refused : flows;
  const alike = facts.filter(({ harm, likeness }) => harm === 'refuses' && !observed && likeness === plain?.likeness);
  const evidence = [...new Set([steady, ...others, ...alike])];
  // If valid deliveries among concurrent forgeries are rejected like forgeries, the answers are mixed up.
  const forged = forgedOf(facts).filter(({ id }) => MIXED.includes(id));
  const isMixed = evidence.some(({ id, likeness }) => MIXED.includes(id) && likeness === 'signature');
  if (observed !== undefined && isMixed) {
    const title = 'Mixes up deliveries that arrive at the same time';
    return [{ title, mistake: 'state-shared-by-requests', facts: [...evidence, ...forged] }];
  }
  const title = 'Fails intermittently on valid deliveries that it accepts at other times';
  return [{ title, mistake: 'intermittent-failures', facts: evidence }];
}

/** Checks that send valid and forged deliveries at the same time. */
const MIXED: readonly string[] = [
  'http/burst-mixed',
  'delivery/forged-beside-right',
  'http/forged-while-others-arrive',
  'http/while-a-body-is-unfinished',
];

/** The mistake indicated by the name of the part that makes the endpoint accept a request. */
const HINTS: readonly (readonly [RegExp, MistakeId])[] = [
  [/client.?(?:cert|verify|dn|cn)|ssl.?(?:client|verify)|x-ssl\b|^x-forwarded-tls/i, 'certificate-header-unprotected'],
  [/original|rewrite|ur[il]|path|prefix/i, 'verification-per-path'],
  [/forwarded|real-ip|client-ip|connecting-ip|remote-addr/i, 'spoofed-client-address'],
  [/test|debug|skip|dry|sandbox|staging/i, 'test-mode-from-request'],
];

const MAX_PARTS = 3;

/**
 * Finds forged deliveries that are accepted because of one part of the request, which the check's follow-ups isolated.
 */
function hints(forged: readonly Fact[]): Pattern[] {
  const isolated = forged.filter(({ part }) => part !== null);
  const byPart = groupBy(isolated, ({ part }) => part?.split(':')[0] ?? '');
  // If many parts are each enough, the cause is what they have in common.
  if (byPart.length > MAX_PARTS) return [];
  return byPart.flatMap(([name, facts]): Pattern[] => {
    const [first] = facts;
    if (first === undefined) return [];
    const [certificate, ...others] = HINTS;
    const known = ['api-key', 'mtls'].includes(first.result.suite) ? [certificate] : [certificate, ...others];
    const mistake = known.find((one) => one?.[0].test(name))?.[1] ?? first.mistake;
    return [{ title: `${findMistake(mistake)?.title}: \`${first.part}\` is enough`, mistake, facts }];
  });
}

/** The mistakes of a receiver that accepts the plain notification with a credential that anyone can make. */
const PLAIN: readonly (readonly [credential: string, missing: MistakeId, invented: MistakeId, both: MistakeId])[] = [
  ['signature', 'absent-signature-passes', 'signature-format-only', 'no-signature-verification'],
  ['API key', 'optional-key', 'unread-key', 'unchecked-key'],
];

function plain(forged: readonly Fact[], results: readonly ScenarioResult[]): Pattern[] {
  // Computed only if a forgery is accepted, because computing the traits of all these checks takes time.
  const rejected = () =>
    results
      .filter(({ suite, verdict }) => verdict === 'pass' && (suite === 'signature' || suite === 'api-key'))
      .flatMap(({ id }) => [...cellsOf(id).values()]);
  return PLAIN.flatMap(([credential, ...mistakes]): Pattern[] => {
    const having = (value: string) => {
      const trait = `${credential}: ${value}`;
      const found = forged.filter(
        ({ cell }) => cell?.traits.some((one) => one === trait) && cell.traits.every(isPlain),
      );
      if (found.length === 0) return [];
      const others = rejected().filter(({ traits }) => traits.length === 1 && traits[0] === trait);
      return others.length > found.length * (1 - MOST) ? [] : found;
    };
    const [missing, invented] = [having('missing'), having('invented')];
    const facts = [...missing, ...invented];
    if (facts.length === 0) return [];
    const mistake = mistakes[missing.length === 0 ? 1 : invented.length === 0 ? 0 : 2] ?? mistakes[0];
    return [{ title: findMistake(mistake)?.title ?? '', mistake, facts }];
  });
}

/** Whether a trait concerns only a credential or the kind of notification. */
const isPlain = (trait: string) => /^(?:signature|API key|notification): /.test(trait);
