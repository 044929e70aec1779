/**
 * What the facts of a run mean where their condition is the condition of a known mistake: which credential suffices,
 * which part of a request does, and what an acceptance says. They hold without any mutant that resembles the receiver.
 * Pure.
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
  /** How many facts could show it. */
  readonly of?: number;
}

/** The patterns that the facts have, the most comprehensive first. */
export function patternsOf(facts: readonly Fact[]): Diagnosis[] {
  const forged = forgedOf(facts);
  return [...polite(forged), ...onlyFirstHandled(facts), ...intermittent(facts)].map(diagnosed);
}

/** What is enough for a forgery: a credential that anyone can make, or else one part of the request. */
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

/** A 2xx whose text is that of a refusal, while valid deliveries get another text. */
function polite(forged: readonly Fact[]): Pattern[] {
  const saysNo = forged.filter(({ result }) => {
    const accepted = textOf(result.exchanges.find(({ role }) => role === 'control'));
    const answer = textOf(
      result.exchanges.find(({ role, label }) => role === 'probe' && label === (result.delivery ?? label)),
    );
    return answer !== accepted && REFUSAL.test(answer) && !REFUSAL.test(accepted);
  });
  if (saysNo.length === 0 || saysNo.length < forged.length * MOST) return [];
  const status = saysNo[0]?.result.answered?.status ?? 200;
  const title = `Answers ${status} to forged deliveries, with a text that refuses them`;
  return [{ title, mistake: 'refused-with-success', facts: saysNo, of: forged.length }];
}

/** Nothing but the first notification was handled. */
function onlyFirstHandled(facts: readonly Fact[]): Pattern[] {
  const lost = facts.filter(({ result }) => result.outcome === 'not-handled');
  const [, missing, all] =
    lost.map(({ result }) => /^(\d+) of (\d+) accepted notifications not handled/.exec(result.reason)).find(Boolean) ??
    [];
  if (missing === undefined || Number(missing) + 1 !== Number(all)) return [];
  const title = `Handles one notification and takes the ${missing} after it for copies of it`;
  return [{ title, mistake: 'copies-by-content', facts: lost }];
}

/** Checks of several valid deliveries, one of which fails in a receiver that accepts the same ones at other times. */
function intermittent(facts: readonly Fact[]): Pattern[] {
  // The plain delivery was accepted at first.
  const plain = facts.find(({ id, harm }) => id === PREFLIGHT_SCENARIO && harm === 'refuses');
  const observed = facts.find(({ id }) => id === STEADY);
  const steady = observed ?? plain;
  if (steady === undefined) return [];
  const flows = facts.filter(({ harm, result }) => harm !== 'forged' && result.delivery !== null);
  const refused = flows.filter(({ harm }) => harm === 'refuses');
  const others = refused.some(({ isFailure }) => isFailure) ? refused : flows;
  const alike = facts.filter(({ harm, likeness }) => harm === 'refuses' && !observed && likeness === plain?.likeness);
  const title = 'Fails on valid deliveries now and then, and accepts the same ones at other times';
  return [{ title, mistake: 'intermittent-failures', facts: [...new Set([steady, ...others, ...alike])] }];
}

/** Which part of a request lets it pass, by its name. */
const HINTS: readonly (readonly [RegExp, MistakeId])[] = [
  [/client.?(?:cert|verify|dn|cn)|ssl.?(?:client|verify)|x-ssl\b|^x-forwarded-tls/i, 'certificate-header-unprotected'],
  [/original|rewrite|uri|prefix/i, 'verification-per-path'],
  [/forwarded|real-ip|client-ip|connecting-ip|remote-addr/i, 'spoofed-client-address'],
  [/test|debug|skip|dry|sandbox|staging/i, 'test-mode-from-request'],
];

const MAX_PARTS = 3;

/** Forged deliveries that one part of the request lets pass, as the follow-ups of the check have isolated. */
function hints(forged: readonly Fact[]): Pattern[] {
  const isolated = forged.filter(({ part }) => part !== null);
  const byPart = groupBy(isolated, ({ part }) => part?.split(':')[0] ?? '');
  // Where many parts are enough, what they have in common is.
  if (byPart.length > MAX_PARTS) return [];
  return byPart.flatMap(([name, facts]): Pattern[] => {
    const [first] = facts;
    if (first === undefined) return [];
    const [certificate, ...others] = HINTS;
    const known = first.result.suite === 'api-key' ? [certificate] : [certificate, ...others];
    const mistake = known.find((one) => one?.[0].test(name))?.[1] ?? first.mistake;
    return [{ title: `${findMistake(mistake)?.title}: \`${first.part}\` is enough`, mistake, facts }];
  });
}

/** The mistake of a receiver that accepts the plain notification with a credential that anyone can make. */
const PLAIN: readonly (readonly [credential: string, missing: MistakeId, invented: MistakeId, both: MistakeId])[] = [
  ['signature', 'absent-signature-passes', 'signature-format-only', 'no-signature-verification'],
  ['API key', 'optional-key', 'unread-key', 'unchecked-key'],
];

function plain(forged: readonly Fact[], results: readonly ScenarioResult[]): Pattern[] {
  // Only where something is accepted: the traits of all these checks take time.
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

/** A credential or another usual notification. */
const isPlain = (trait: string) => /^(?:signature|API key|notification): /.test(trait);
