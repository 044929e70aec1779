/**
 * The causes of what went wrong in a run whose first delivery was accepted: each explains facts that no cause before it
 * explains, in the order of the harm. Consequences are counted under their cause and are no causes. Pure.
 */
import { BODY_MISTAKES, findMistake, type MistakeId, PAYLOAD_MISTAKES } from '../../contract/mistakes/index.ts';
import { mustBeRejected } from '../judge/index.ts';
import { groupBy } from '../report/index.ts';
import type { Diagnosis, ScenarioResult } from '../report/result-document.ts';
import { conditionOf } from './conditions.ts';
import { type Fact, HARMS, type Harm, implies, isSpecialCaseOf, kindOf, type Likeness, STAYS_UP } from './facts.ts';
import { findingOf, shownBy } from './finding.ts';
import { UNEXPLAINED } from './run-findings.ts';
import { cellsOf, type Trait } from './traits.ts';

/** A further cause needs this share of evidence that no cause before it explains. */
const NEWS = 0.5;

/** A simple condition of this many deliveries is better evidence than a fault that explains a smaller share of them. */
const MIN_GROUP = 3;
const COVERED = 0.8;

/** One unchecked field is the cause when it explains at least this share of the malformed payloads. */
const PAYLOAD_SHARE = 0.75;

/** A cause that was found, before its consequences are counted. */
export interface Candidate {
  readonly diagnosis: Diagnosis;
  /** Nothing else that went wrong is a cause of its own. */
  readonly complete?: boolean;
  /** It concerns every delivery, although one check reports it. */
  readonly everywhere?: boolean;
}

type Traits = readonly Trait[];
/** The deliveries that went right, of the kind that could do this harm. */
type GreenOf = (harm: Harm) => readonly Traits[];

interface Cause {
  readonly diagnosis: Diagnosis;
  /** What it explains itself, without consequences. */
  readonly own: readonly Fact[];
  readonly harm: Harm;
  /** How many checks fail; infinite for what concerns every delivery. */
  readonly failures: number;
}

/** The causes in their order, with their consequences as evidence: from candidates, and from what these leave. */
export function causesOfRun(
  candidates: readonly Candidate[],
  facts: readonly Fact[],
  results: readonly ScenarioResult[],
) {
  const left = new Set(facts);
  const causes: Cause[] = [];
  const greens = new Map<Harm, readonly Traits[]>();
  // The traits of hundreds of deliveries: read once for a harm, and only if a condition of it is searched.
  const greenOf: GreenOf = (harm) => {
    const known = greens.get(harm) ?? deliveriesThatWentRight(harm, results);
    greens.set(harm, known);
    return known;
  };
  // Where checks fail, warnings alone are no cause: they depend on the framework more than on the receiver's code.
  const hasFailures = facts.some(({ isFailure }) => isFailure);
  const isReported = (members: readonly Fact[]) => !hasFailures || members.some(({ isFailure }) => isFailure);
  const take = (diagnosis: Diagnosis, own: readonly Fact[], { complete = false, everywhere = false } = {}) => {
    const members = complete ? [...left] : [...left].filter((fact) => explains(diagnosis, own, fact));
    for (const fact of members) left.delete(fact);
    const evidence = new Set([...diagnosis.evidence, ...members.map(({ id }) => id)]);
    const relevant = [...own, ...members];
    causes.push({
      own,
      diagnosis: { ...diagnosis, evidence: results.filter(({ id }) => evidence.has(id)).map(({ id }) => id) },
      harm: worstOf(relevant),
      failures: everywhere ? Number.POSITIVE_INFINITY : new Set(relevant.filter(({ isFailure }) => isFailure)).size,
    });
  };
  const coverageOf = (group: readonly Fact[]) =>
    Math.max(0, ...candidates.map(({ diagnosis }) => group.filter(({ id }) => diagnosis.evidence.includes(id)).length));
  const failing = facts.filter(({ isFailure }) => isFailure);
  // The conditions of what a candidate explains anyway are not searched: that takes time.
  const open = groupBy(failing, ({ harm, likeness }) => `${harm} ${likeness}`).flatMap(([, plane]) =>
    coverageOf(plane) < plane.length * COVERED ? plane : [],
  );
  for (const group of groupsOf(open, greenOf)) {
    const isOpen = group.length >= MIN_GROUP && coverageOf(group) < group.length * COVERED;
    if (isOpen && isTelling(group, greenOf)) take(describe(group, greenOf), group);
  }
  const payloads = facts.filter(({ harm, isFailure }) => harm === 'malformed' && isFailure);
  for (const { diagnosis, ...more } of candidates) {
    const own = facts.filter(({ id }) => diagnosis.evidence.includes(id));
    // Unchecked fields of a payload have one repair, wherever they are, so no field is the cause.
    const unhandled = own.filter((fact) => payloads.includes(fact)).length;
    if (unhandled * 2 > own.length && unhandled < payloads.length * PAYLOAD_SHARE) continue;
    const news = own.filter((fact) => left.has(fact));
    if (!isReported(news) || news.length < own.length * NEWS) continue;
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

/** Without causes that another one explains altogether; that one has their evidence. */
function withoutConsequences(causes: readonly Cause[]): Cause[] {
  const kept: Cause[] = [];
  for (const cause of causes.toSorted((a, b) => b.failures - a.failures)) {
    const at = kept.findIndex(({ diagnosis, own }) => cause.own.every((fact) => explains(diagnosis, own, fact)));
    const reason = kept[at];
    if (reason === undefined || cause.own.length === 0) kept.push(cause);
    else {
      const evidence = [...new Set([...reason.diagnosis.evidence, ...cause.diagnosis.evidence])];
      kept[at] = { ...reason, diagnosis: { ...reason.diagnosis, evidence } };
    }
  }
  return kept;
}

/** A wrong status for some deliveries is as bad as malformed payloads that are not handled. */
const rankOf = ({ harm, failures }: Cause) =>
  HARMS.indexOf(harm === 'status' && Number.isFinite(failures) ? 'malformed' : harm);

function worstOf(facts: readonly Fact[]): Harm {
  const decisive = facts.some(({ isFailure }) => isFailure) ? facts.filter(({ isFailure }) => isFailure) : facts;
  return HARMS.find((harm) => decisive.some((fact) => fact.harm === harm)) ?? 'rest';
}

/** Whether a fact is a consequence: its mistake is implied, or it is a special case of what the cause explains. */
function explains({ mistake, evidence }: Diagnosis, own: readonly Fact[], fact: Fact): boolean {
  if (evidence.includes(fact.id)) return true;
  if (own.some((one) => isSpecialCaseOf(fact, one))) return true;
  if (fact.id === STAYS_UP) return own.some(({ harm }) => harm === 'ends' || harm === 'ended by anyone');
  if (mistake === null) return false;
  const isSameHarm = own.some(({ harm, likeness }) => harm === fact.harm && likeness === fact.likeness);
  return isSameHarm && implies(mistake as MistakeId, fact.mistake);
}

/** What no candidate explains: by harm and by what the answers look like, and forgeries by what they share. */
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
      // Where they share nothing, each mistake is a cause, unless chance decides.
      const keyOf = (fact: Fact) => `${credentialOf(fact)} ${varying > 0 ? '' : fact.mistake}`;
      return groupBy(group, keyOf).map(([, members]) => members);
    })
    .toSorted((a, b) => HARMS.indexOf(a[0]?.harm ?? 'rest') - HARMS.indexOf(b[0]?.harm ?? 'rest'));
}

const credentialOf = ({ cell, result }: Fact) =>
  ['client certificate', 'API key', 'signature'].find((name) => cell?.traits.some((one) => one.startsWith(name))) ??
  result.suite;

/** The deliveries of the same kind that went right. */
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
    /** Others that differ in nothing got another answer. */
    varying: red.filter((traits) => same.has(traits.join())).length,
  };
}

/** The share of deliveries whose traits must be known. */
const KNOWN_SHARE = 0.6;

/** Whether one trait decides, or chance. */
function isTelling(facts: readonly Fact[], greenOf: GreenOf): boolean {
  const { condition, varying } = conditionFor(facts, greenOf);
  return condition === null
    ? facts[0]?.harm === 'forged' && varying >= MIN_GROUP && varying * 2 >= facts.length
    : condition.traits.length === 1;
}

/** A cause for facts that no candidate explains: the condition that they share, and the mistake that it means. */
function describe(members: readonly Fact[], greenOf: GreenOf): Diagnosis {
  const failing = members.filter(({ isFailure }) => isFailure);
  const decisive = failing.length > 0 ? failing : members;
  const [{ harm, likeness } = { harm: 'rest', likeness: 'unknown' } as const] = decisive;
  const shared = conditionFor(decisive, greenOf);
  const mistake = mistakeOf(members, harm, likeness);
  const known = findMistake(mistake);
  const observed = sentenceOf(harm, likeness, decisive, shared);
  const isGeneral = mistake === GENERAL[harm] || members.length === 1;
  const title =
    known === undefined || isGeneral ? observed : `${asAnswered(known.title, decisive)}: ${lowerFirst(observed)}`;
  const finding = mistake === null ? { ...UNEXPLAINED, title } : findingOf(mistake, title, mistake);
  const ids = members.map(({ id }) => id);
  return { ...shownBy(finding, ids, decisive.length), agreement: decisive.length };
}

/** The mistake that most of the checks show, or else the general one for this harm. */
function mistakeOf(facts: readonly Fact[], harm: Harm, likeness: Likeness): MistakeId | null {
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
  // One that implies what other checks show explains those too.
  const [best] = [...new Set(facts.filter(isPossible).map(({ mistake }) => mistake))]
    .map((mistake) => ({ mistake, shown: facts.filter((fact) => implies(mistake, fact.mistake)).length }))
    .toSorted((one, other) => other.shown - one.shown);
  if (best !== undefined && best.shown * 2 >= facts.length) return best.mistake;
  return harm === 'refuses' && likeness === 'signature' ? 'decoded-body' : GENERAL[harm];
}

const IMPOSSIBLE: Readonly<Partial<Record<Likeness, ReadonlySet<string>>>> = {
  signature: PAYLOAD_MISTAKES,
  payload: BODY_MISTAKES,
};

const AS: Readonly<Record<Likeness, string>> = {
  signature: ' as it rejects an invalid signature',
  payload: ' as it rejects a malformed payload',
  elsewhere: ' with an answer that it gives to nothing else, so perhaps something in front of it answers',
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
  const noun = NOUNS[harm];
  if (noun === undefined || (condition === null && facts.length < 3)) return `${defectsOf(facts)}${AS[likeness]}`;
  const share = green.length === 0 ? `${facts.length} ` : '';
  const of = green.length === 0 ? '' : ` (${facts.length} of ${facts.length + green.length})`;
  if (condition === null && varying > 0 && harm === 'forged') {
    return `${doesOf(facts, harm)} some forged deliveries${of} and rejects others that differ in nothing`;
  }
  return `${doesOf(facts, harm)} ${share}${noun}${condition === null ? '' : ` ${condition.text}`}${of}${AS[likeness]}`;
}

/** Up to this many are written out. */
const MAX_DEFECTS = 2;

function defectsOf(facts: readonly Fact[]): string {
  const shown = facts.slice(0, MAX_DEFECTS).map(({ result }) => result.defect ?? result.title);
  const left = facts.length - shown.length;
  return `${shown.join('. ')}${left > 0 ? `; and ${left} more` : ''}`;
}

const NOUNS: Readonly<Partial<Record<Harm, string>>> = {
  forged: 'forged deliveries',
  refuses: 'valid deliveries',
  status: 'deliveries with invalid credentials',
  malformed: 'malformed payloads',
};

/** "Answers 500 to", "Rejects". */
function doesOf(facts: readonly Fact[], harm: Harm): string {
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

/** A mistake is described by the usual answer; another server closes the connection instead. */
function asAnswered(title: string, facts: readonly Fact[]): string {
  const isClosed = facts.every(({ result }) => result.outcome === 'closed');
  return isClosed ? title.replace(/^Answers 500 to/, 'Closes the connection on') : title;
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

/** The mistake of the library that says what a harm means where no closer one is known. */
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
