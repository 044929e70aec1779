/**
 * Finds the causes of the failures in a run whose first delivery was accepted. Each cause explains facts that no
 * earlier cause explains, and causes are ordered by harm. Consequences are counted under their cause. All functions are
 * pure.
 */
import {
  BODY_MISTAKES,
  findMistake,
  MISTAKES,
  type MistakeId,
  PAYLOAD_MISTAKES,
} from '../../contract/mistakes/index.ts';
import { mustBeRejected } from '../judge/index.ts';
import { groupBy } from '../report/index.ts';
import type { Diagnosis, ScenarioResult } from '../report/result-document.ts';
import { conditionOf, isKind } from './conditions.ts';
import {
  type Fact,
  HARMS,
  type Harm,
  implies,
  isAnsweredAsUnknownKind,
  isEnd,
  isSpecialCaseOf,
  kindOf,
  type Likeness,
  STAYS_UP,
} from './facts.ts';
import { asAnswered, findingOf, shownBy } from './finding.ts';
import { UNEXPLAINED } from './run-findings.ts';
import { cellsOf, type Trait } from './traits.ts';

/** Each additional cause must explain at least this share of its evidence for the first time. */
const MIN_NEW_EVIDENCE = 0.5;

/**
 * A simple condition that this many deliveries share outweighs a fault that explains less than {@link COVERED} of them.
 */
const MIN_GROUP = 3;
const COVERED = 0.8;

/** An unchecked field is the cause only if it explains at least this share of the malformed payloads. */
const PAYLOAD_SHARE = 0.75;

/** A possible cause, before its consequences are counted. */
export interface Candidate {
  readonly diagnosis: Diagnosis;
  /** Whether this cause explains every other fact, so there is no other cause. */
  readonly complete?: boolean;
  /** Whether this cause affects every delivery, although only one check reports it. */
  readonly everywhere?: boolean;
  /** Whether this cause is what suffices for a forgery, so it explains others even if fewer checks show it. */
  readonly suffices?: boolean;
}

type Traits = readonly Trait[];
/** Returns the traits of the deliveries that could have shown this harm but did not. */
type GreenOf = (harm: Harm) => readonly Traits[];

interface RankedCause {
  readonly diagnosis: Diagnosis;
  /** The facts that the cause explains directly, not as consequences. */
  readonly own: readonly Fact[];
  readonly harm: Harm;
  /** The number of failed checks. Infinite if the cause affects every delivery. */
  readonly failures: number;
  readonly suffices: boolean;
}

/**
 * Returns the ordered causes. Their evidence includes their consequences. Candidates come first; other causes are
 * derived from the facts that the candidates leave unexplained.
 */
export function causesOfRun(
  candidates: readonly Candidate[],
  facts: readonly Fact[],
  results: readonly ScenarioResult[],
) {
  const left = new Set(facts);
  const causes: RankedCause[] = [];
  const greens = new Map<Harm, readonly Traits[]>();
  // Computed once per harm and on demand, because there are hundreds of deliveries.
  const greenOf: GreenOf = (harm) => {
    const known = greens.get(harm) ?? deliveriesThatWentRight(harm, results);
    greens.set(harm, known);
    return known;
  };
  // If any check fails, warnings alone are not a cause: they depend on the framework more than on the receiver's code.
  // Copies that are rejected are an exception, because the sender repeats them forever.
  const hasFailures = facts.some(({ isFailure }) => isFailure);
  const isReported = (members: readonly Fact[]) =>
    !hasFailures || members.some(({ isFailure, mistake }) => isFailure || mistake === 'copy-rejected');
  const take = (
    diagnosis: Diagnosis,
    own: readonly Fact[],
    { complete = false, everywhere = false, suffices = false, kinds = [] as Traits } = {},
  ) => {
    const members = [...left].filter(
      (fact) => complete || explains(diagnosis, own, fact) || own.some((one) => isSpecialCaseOf(fact, one, kinds)),
    );
    for (const fact of members) left.delete(fact);
    const evidence = new Set([...diagnosis.evidence, ...members.map(({ id }) => id)]);
    const relevant = [...own, ...members];
    causes.push({
      own,
      suffices,
      diagnosis: { ...diagnosis, evidence: results.filter(({ id }) => evidence.has(id)).map(({ id }) => id) },
      harm: worstOf(relevant),
      failures: everywhere ? Number.POSITIVE_INFINITY : new Set(relevant.filter(({ isFailure }) => isFailure)).size,
    });
  };
  const coverageOf = (group: readonly Fact[]) =>
    Math.max(0, ...candidates.map(({ diagnosis }) => group.filter(({ id }) => diagnosis.evidence.includes(id)).length));
  // A status that is wrong everywhere shows nothing about a group.
  const known = new Set(candidates.flatMap(({ diagnosis, everywhere }) => (everywhere ? diagnosis.evidence : [])));
  const failing = facts.filter(({ id, isFailure }) => isFailure && !known.has(id));
  // Facts that a candidate mostly explains are left out, because the search for a condition is slow.
  const open = groupBy(failing, ({ harm, likeness }) => `${harm} ${likeness}`).flatMap(([, plane]) =>
    coverageOf(plane) < plane.length * COVERED ? plane : [],
  );
  for (const group of groupsOf(open, greenOf)) {
    const isOpen = group.length >= MIN_GROUP && coverageOf(group) < group.length * COVERED;
    if (isOpen && isConclusive(group, greenOf)) {
      const kinds = conditionFor(group, greenOf).condition?.traits.filter(isKind);
      take(describe(group, greenOf), group, { kinds });
    }
  }
  const payloads = facts.filter(({ harm, isFailure }) => harm === 'malformed' && isFailure);
  for (const { diagnosis, ...more } of candidates) {
    const own = facts.filter(({ id }) => diagnosis.evidence.includes(id));
    // All unchecked payload fields have the same fix, so a single field is not the cause.
    const unhandled = own.filter((fact) => payloads.includes(fact)).length;
    if (unhandled * 2 > own.length && unhandled < payloads.length * PAYLOAD_SHARE) continue;
    const news = own.filter((fact) => left.has(fact));
    if (!isReported(news) || news.length < own.length * MIN_NEW_EVIDENCE) continue;
    take(diagnosis, own, more);
  }
  for (const group of groupsOf([...left], greenOf)) {
    const members = group.filter((fact) => left.has(fact));
    if (members.length > 0 && isReported(members)) take(describe(members, greenOf), members);
  }
  return withoutConsequences(causes)
    .toSorted((a, b) => rankOf(a) - rankOf(b) || b.failures - a.failures)
    .map(({ diagnosis }, at): Diagnosis => ({ ...diagnosis, relation: at === 0 ? 'main' : 'also' }));
}

/**
 * Merges each cause that another cause fully explains into the other one, which gets the evidence of both and the worse
 * harm of the two.
 */
function withoutConsequences(causes: readonly RankedCause[]): RankedCause[] {
  const kept: RankedCause[] = [];
  const explainsAll = ({ diagnosis, own }: RankedCause, cause: RankedCause) =>
    cause.own.every((fact) => explains(diagnosis, own, fact));
  const isEnough = (cause: RankedCause) =>
    cause.suffices && causes.some((one) => explainsAll(cause, one) && !explainsAll(one, cause));
  const inOrder = causes.toSorted((a, b) => Number(isEnough(b)) - Number(isEnough(a)) || b.failures - a.failures);
  for (const cause of inOrder) {
    const { mistake } = cause.diagnosis;
    const isSame = (other: Diagnosis) =>
      mistake !== null && mistake !== GENERAL[cause.harm] && mistake === other.mistake;
    const at = kept.findIndex((one) => isSame(one.diagnosis) || explainsAll(one, cause));
    const reason = kept[at];
    if (reason === undefined || cause.own.length === 0) kept.push(cause);
    else {
      const evidence = [...new Set([...reason.diagnosis.evidence, ...cause.diagnosis.evidence])];
      const harm = HARMS.find((one) => one === reason.harm || one === cause.harm) ?? reason.harm;
      kept[at] = { ...reason, harm, diagnosis: { ...reason.diagnosis, evidence } };
    }
  }
  return kept;
}

/**
 * Returns the rank of a cause. Warnings rank after every failure, and a wrong status for only some deliveries ranks
 * with mishandled malformed payloads.
 */
const rankOf = ({ harm, failures }: RankedCause) =>
  (failures === 0 ? HARMS.length : 0) +
  HARMS.indexOf(harm === 'status' && Number.isFinite(failures) ? 'malformed' : harm);

function worstOf(facts: readonly Fact[]): Harm {
  const decisive = facts.some(({ isFailure }) => isFailure) ? facts.filter(({ isFailure }) => isFailure) : facts;
  return HARMS.find((harm) => decisive.some((fact) => fact.harm === harm)) ?? 'rest';
}

/**
 * Whether a fact is a consequence: the diagnosis implies its mistake, or it is a special case of a fact that the cause
 * explains.
 */
function explains({ mistake, evidence }: Diagnosis, own: readonly Fact[], fact: Fact): boolean {
  if (evidence.includes(fact.id)) return true;
  if (own.some((one) => isSpecialCaseOf(fact, one))) return true;
  if (fact.id === STAYS_UP) return own.some(({ harm }) => isEnd(harm));
  if (mistake === null) return false;
  const isSameHarm = own.some(({ harm, likeness }) => harm === fact.harm && likeness === fact.likeness);
  return isSameHarm && implies(mistake as MistakeId, fact.mistake);
}

/** Groups unexplained facts by harm and likeness, and forgeries also by what they share. */
function groupsOf(facts: readonly Fact[], greenOf: GreenOf): Fact[][] {
  const groups = groupBy(
    facts,
    ({ harm, likeness, mistake }) => `${harm} ${likeness} ${harm === 'rest' ? mistake : ''}`,
  );
  return groups
    .flatMap(([, group]) => {
      if (group[0]?.harm !== 'forged') return [group];
      const { condition, varying } = conditionFor(group, greenOf);
      if (condition !== null) return [group];
      // If the facts share nothing, each mistake is a separate cause, unless chance decides.
      const keyOf = (fact: Fact) => `${credentialOf(fact)} ${varying > 0 ? '' : fact.mistake}`;
      return groupBy(group, keyOf).map(([, members]) => members);
    })
    .toSorted((a, b) => HARMS.indexOf(a[0]?.harm ?? 'rest') - HARMS.indexOf(b[0]?.harm ?? 'rest'));
}

const credentialOf = ({ cell, result }: Fact) =>
  ['client certificate', 'API key', 'signature'].find((name) => cell?.traits.some((one) => one.startsWith(name))) ??
  result.suite;

/** Returns the traits of the deliveries that could have shown this harm but did not. */
function deliveriesThatWentRight(harm: Harm, results: readonly ScenarioResult[]): Traits[] {
  return results
    .filter(({ verdict, answered }) => verdict === 'pass' && (answered?.class === 'accepted') === (harm === 'refuses'))
    .flatMap(({ id }) => [...cellsOf(id).values()])
    .filter(({ expect }) => {
      if (harm === 'malformed') return expect.malformed === true;
      return harm === 'refuses' ? expect.authentic && expect.pass.every((one) => one === 200) : mustBeRejected(expect);
    })
    .map(({ traits }) => traits);
}

function conditionFor(facts: readonly Fact[], greenOf: GreenOf) {
  const [{ harm } = { harm: 'rest' } as const] = facts;
  const red = facts.flatMap(({ cell }) => (cell === null ? [] : [cell.traits]));
  const green = red.length < facts.length * KNOWN_SHARE ? [] : greenOf(harm);
  const same = new Set(green.map((traits) => traits.join()));
  return {
    green,
    condition: green.length === 0 ? null : conditionOf(red, green),
    /** The number of failed deliveries for which an identical one got the expected answer. */
    varying: red.filter((traits) => same.has(traits.join())).length,
    /** Whether the same credential with the plain body got the expected answer. */
    needsBody:
      red.length > 0 && red.every((traits) => isOfBody(traits) && same.has(traits.filter(isCredential).join())),
  };
}

const isCredential = (trait: Trait) => /^(?:signature|API key): /.test(trait);
const isOfBody = (traits: Traits) => traits.some((trait) => trait.startsWith('body: '));

/** The minimum share of deliveries whose traits must be known. */
const KNOWN_SHARE = 0.6;

/** Whether the facts are conclusive: one trait or their kinds explain them, or identical forgeries differ in answer. */
function isConclusive(facts: readonly Fact[], greenOf: GreenOf): boolean {
  const { condition, varying } = conditionFor(facts, greenOf);
  return condition === null
    ? facts[0]?.harm === 'forged' && varying >= MIN_GROUP && varying * 2 >= facts.length
    : condition.traits.length === 1 || (facts[0]?.harm === 'refuses' && condition.traits.every(isKind));
}

/**
 * Describes the cause of facts that no candidate explains, by the condition that they share and the mistake that this
 * suggests.
 */
function describe(members: readonly Fact[], greenOf: GreenOf): Diagnosis {
  const failing = members.filter(({ isFailure }) => isFailure);
  const decisive = failing.length > 0 ? failing : members;
  const [{ harm, likeness } = { harm: 'rest', likeness: 'unknown' } as const] = decisive;
  const shared = conditionFor(decisive, greenOf);
  // The accepted forgeries share nothing that the rejected ones lack, so something outside them decides.
  const isChance = harm === 'forged' && shared.condition === null && shared.varying >= MIN_GROUP;
  const mistake = isChance ? 'forgery-accepted' : mistakeOf(members, harm, likeness, shared);
  const known = findMistake(mistake);
  const observed = sentenceOf(harm, likeness, decisive, shared);
  const results = decisive.map(({ result }) => result);
  const isGeneral = mistake === GENERAL[harm] || (mistake === 'slow-answer' ? decisive : members).length === 1;
  const general = known === undefined || isGeneral ? '' : asAnswered(known.title, results);
  // The defects of two checks would only repeat the mistake.
  const isPair = decisive.length === 2 && shared.condition === null;
  const title = general === '' ? observed : isPair ? general : `${general}: ${lowerFirst(observed)}`;
  const note = decisive.some(({ endsUnchecked }) => endsUnchecked) ? BEFORE_CHECKS : undefined;
  const explained = mistake === null ? { ...UNEXPLAINED, title } : findingOf(mistake, title, mistake, note);
  const finding = isChance ? { ...explained, fix: FIX_OF_CHANCE } : explained;
  const ids = members.map(({ id }) => id);
  return { ...shownBy(finding, ids, decisive.length), agreement: decisive.length };
}

const BEFORE_CHECKS = 'The process ends both with and without a valid signature, so the error occurs before any check.';

/** The value of the signature or an earlier request may decide, so the fix covers both. */
const FIX_OF_CHANCE = ['hand-written-comparison' as const, 'state-outlives-request' as const]
  .map((mistake) => MISTAKES[mistake].fix.rule)
  .join(' ');

/** Returns the mistake that most of the checks show, or the general one for this harm. */
function mistakeOf(
  facts: readonly Fact[],
  harm: Harm,
  likeness: Likeness,
  { condition, needsBody }: ReturnType<typeof conditionFor>,
): MistakeId | null {
  const traits = condition?.traits ?? [];
  if (harm === 'malformed') {
    const [unparsed, redirected] = [
      facts.filter(({ cell }) => cell?.traits.includes('body: no JSON')),
      facts.filter(({ result }) => /^3/.test(result.outcome ?? '')),
    ];
    if (redirected.length * 2 >= facts.length) return 'invalid-payload-redirected';
    if (unparsed.length * 2 >= facts.length) return 'unguarded-parser';
  }
  // The signature is verified before the payload is read.
  const isPossible = ({ mistake }: Fact) => IMPOSSIBLE[likeness]?.has(mistake) !== true;
  // A mistake that implies other mistakes also explains the checks that show those.
  const [best] = [...new Set(facts.filter(isPossible).map(({ mistake }) => mistake))]
    .map((mistake) => ({ mistake, shown: facts.filter((fact) => implies(mistake, fact.mistake)).length }))
    .toSorted((one, other) => other.shown - one.shown);
  if (needsBody && OF_CREDENTIAL.includes(best?.mistake)) return 'parsing-before-verification';
  if (best !== undefined && best.shown * 2 >= facts.length) {
    // A mistake about several types does not fit if only one type is affected.
    const isOneKind = traits.length === 1 && /^(?:notification|status): /.test(traits[0] ?? '');
    const isListed = isOneKind || isAnsweredAsUnknownKind(facts, facts);
    return best.mistake === 'one-shape-for-all-types' && isListed ? 'valid-kind-rejected' : best.mistake;
  }
  return harm === 'refuses' && likeness === 'signature' ? 'decoded-body' : GENERAL[harm];
}

const OF_CREDENTIAL: readonly (MistakeId | undefined)[] = [
  'signature-check-throws',
  'key-check-throws',
  'verification-ends-process',
];

const IMPOSSIBLE: Readonly<Partial<Record<Likeness, ReadonlySet<string>>>> = {
  signature: PAYLOAD_MISTAKES,
  payload: BODY_MISTAKES,
  // Reserialised bytes lead to a failed comparison, not to an exception.
  crash: new Set(['reserialised-body']),
};

const AS: Readonly<Record<Likeness, string>> = {
  signature: ' as it rejects an invalid signature',
  payload: ' as it rejects a malformed payload',
  elsewhere: ' with an answer that it gives to no other request, perhaps from a server in front of it',
  crash: '',
  unknown: '',
};

function sentenceOf(
  harm: Harm,
  likeness: Likeness,
  facts: readonly Fact[],
  { condition, green, varying }: ReturnType<typeof conditionFor>,
): string {
  const [only] = facts;
  if (facts.length === 1 && only !== undefined) {
    return `${defectsOf(facts)}${only.part === null ? '' : ` (${only.part} is enough)`}${AS[likeness]}`;
  }
  const isOfSecret = harm === 'forged' && !facts.every(({ isForgery }) => isForgery);
  const known = isOfSecret ? 'deliveries that must be rejected' : NOUNS[harm];
  const noun = facts.some(({ endsUnchecked }) => endsUnchecked) ? undefined : known;
  if (noun === undefined || (condition === null && facts.length < 3)) return `${defectsOf(facts)}${AS[likeness]}`;
  const share = green.length === 0 ? `${facts.length} ` : '';
  const of = green.length === 0 ? '' : ` (${facts.length} of ${facts.length + green.length})`;
  if (condition === null && varying > 0 && harm === 'forged') {
    return `${doesOf(facts, harm)} some ${noun}${of} but rejects identical ones`;
  }
  return `${doesOf(facts, harm)} ${share}${noun}${condition === null ? '' : ` ${condition.text}`}${of}${AS[likeness]}`;
}

function endsOn(facts: readonly Fact[]): string {
  if (!facts.every(({ result }) => result.outcome === 'closed')) return 'Stops answering after';
  return `Ends the process ${facts.every(({ endsUnchecked }) => endsUnchecked) ? 'before any check ' : ''}on`;
}

/** Maximum number of defects in a title. */
const MAX_DEFECTS = 2;

function defectsOf(facts: readonly Fact[]): string {
  const shown = facts.slice(0, MAX_DEFECTS).map((fact) => {
    const { harm, result } = fact;
    if (harm === 'refuses' && result.outcome === 'silence')
      return `Does not answer a valid delivery in time (${result.delivery ?? result.id})`;
    const text = result.defect ?? result.title;
    return isEnd(harm) ? text.replace(/^(?:Fails on|Rejects|Accepts)/, endsOn([fact])) : text;
  });
  const left = facts.length - shown.length;
  return `${shown.join('. ')}${left > 0 ? `; and ${left} more` : ''}`;
}

const NOUNS: Readonly<Partial<Record<Harm, string>>> = {
  forged: 'forged deliveries',
  refuses: 'valid deliveries',
  status: 'deliveries with invalid credentials',
  'ended by anyone': 'deliveries with invalid credentials',
  malformed: 'malformed payloads',
};

/** Returns the verb of a title: "Answers 500 to", "Rejects". */
function doesOf(facts: readonly Fact[], harm: Harm): string {
  if (isEnd(harm)) return endsOn(facts);
  const outcomes = [...new Set(facts.map(({ result }) => `${result.answered?.status ?? result.outcome}`))];
  const named = harm === 'status' ? /^\d{3}$/ : /^5\d\d$/;
  if (outcomes.every((one) => named.test(one))) return `Answers ${outcomes.join(' or ')} to`;
  const kinds = [...new Set(facts.map(kindOf))];
  const [kind = ''] = kinds;
  if (kinds.length > 1) return 'Mishandles';
  return VERBS[outcomes.includes('closed') ? 'closed' : kind] ?? 'Mishandles';
}

const VERBS: Readonly<Record<string, string>> = {
  accepted: 'Accepts',
  rejected: 'Rejects',
  crashed: 'Fails on',
  closed: 'Closes the connection on',
  silent: 'Does not answer',
  unreadable: 'Sends an unreadable answer to',
};

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** The library's general mistake for each harm, if no specific one is known. */
const GENERAL: Readonly<Record<Harm, MistakeId | null>> = {
  reveals: 'stored-key-in-answer',
  forged: 'forgery-accepted',
  'ended by anyone': 'verification-ends-process',
  ends: 'uncaught-error',
  refuses: 'over-strict-validation',
  repeats: 'copy-handled-again',
  lenient: 'lossy-body-text',
  status: 'wrong-refusal-status',
  malformed: 'payload-not-validated',
  rest: null,
};
