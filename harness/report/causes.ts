/** Groups results by cause: first those that the diagnosis explains, then those that failed in the same way. */
import type { Diagnosis, Exchange, ResultDocument, ScenarioResult } from './result-document.ts';

/** Checks that need the same fix. */
export interface Cause {
  /** The diagnosis that explains the checks; null if there is none. */
  readonly diagnosis: Diagnosis | null;
  /** What the checks have in common. Empty for a single check, which has its own title. */
  readonly title: string;
  readonly members: readonly ScenarioResult[];
}

/**
 * Groups the given results by cause, each in exactly one: first by the faults of the diagnosis, in order, then by suite
 * and type of failure, with the most failures first.
 */
export function causesOf(results: readonly ScenarioResult[], diagnosis: ResultDocument['diagnosis']): Cause[] {
  const left = new Set(results);
  const explained = diagnosis.map((one): Cause => {
    const evidence = new Set(one.evidence);
    const members = [...left].filter(({ id }) => evidence.has(id));
    for (const member of members) left.delete(member);
    return { diagnosis: one, title: one.title, members };
  });
  const rest = groupBy([...left], causeKey).map(([, members]): Cause => {
    const [first] = members;
    const title = first === undefined || members.length === 1 ? '' : whatWentWrong(first);
    return { diagnosis: null, title, members };
  });
  return [...explained.filter(({ members }) => members.length > 0), ...rest.toSorted(byFailures)];
}

/** Whether a group is diagnosed or contains a failure. Otherwise it contains only warnings. */
export function isCause({ diagnosis, members }: Cause): boolean {
  return diagnosis !== null || members.some(({ verdict }) => verdict === 'fail');
}

/** Prepends the findings that no failed check shows, such as that nothing is listening on the port. */
export function withFindings(causes: readonly Cause[], diagnoses: readonly Diagnosis[]): Cause[] {
  const shown = new Set(causes.map(({ diagnosis }) => diagnosis));
  const others = diagnoses.filter((one) => !shown.has(one));
  const added = others.map((diagnosis): Cause => ({ diagnosis, title: diagnosis.title, members: [] }));
  return [
    ...added.filter(({ diagnosis }) => diagnosis?.relation === 'main'),
    ...causes,
    ...added.filter(({ diagnosis }) => diagnosis?.relation !== 'main'),
  ];
}

/**
 * Adds to a partial run the full run's diagnosis of the checks that still fail in the same way, because a partial run
 * has too few outcomes for its own diagnosis.
 */
export function withDiagnosisOf(full: ResultDocument, document: ResultDocument): ResultDocument {
  const before = new Map(full.results.map((result) => [result.id, causeKey(result)]));
  const same = new Set(document.results.filter((one) => before.get(one.id) === causeKey(one)).map(({ id }) => id));
  const diagnosis = full.diagnosis
    .map((one) => ({ ...one, evidence: one.evidence.filter((id) => same.has(id)) }))
    .filter(({ evidence }) => evidence.length > 0);
  return { ...document, diagnosis };
}

/**
 * Returns a key that is equal for results that failed in the same way, or lack a verdict for the same reason. Failures
 * with an answered status are also separated by suite.
 */
export function causeKey(result: ScenarioResult): string {
  const status = answeredStatus(result);
  // Crashes, closed connections, invalid answers and reasons for no verdict are the same in every suite.
  const isAnswer = result.verdict !== 'inconclusive' && status !== null && status < 500;
  return JSON.stringify([isAnswer ? result.suite : '', whatWentWrong(result)]);
}

/** Returns the status of the decisive answer; null if there was none. */
export function answeredStatus(result: ScenarioResult): number | null {
  const { outcome } = result;
  if (outcome === undefined) return decisiveProbe(result)?.response?.status ?? null;
  return /^\d{3}$/.test(outcome) ? Number(outcome) : null;
}

/** Returns the probe that decided the verdict; undefined if no probe was kept. */
export function decisiveProbe({ delivery, exchanges }: ScenarioResult): Exchange | undefined {
  const probes = exchanges.filter(({ role }) => role === 'probe');
  return probes.find(({ label }) => label === delivery) ?? probes[0];
}

function whatWentWrong({ cause, expected, observed, reason }: ScenarioResult): string {
  return cause ?? (reason || `expected ${expected}, observed ${observed || 'nothing'}`);
}

function byFailures(one: Cause, other: Cause): number {
  const failures = (cause: Cause) => cause.members.filter(({ verdict }) => verdict === 'fail').length;
  return failures(other) - failures(one) || other.members.length - one.members.length;
}

/** Returns the title of a cause, with a capital first letter. */
export function titleOf({ members: [first], title }: Cause): string {
  const text = title === '' && first !== undefined ? defectIn(first) : title;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns the defect, or the title of the check if the document states no defect. */
export function defectIn({ defect, title }: ScenarioResult): string {
  return defect ?? title;
}

/** Groups items by key, in the order in which the keys first occur. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): [key: string, members: T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [item]);
    else members.push(item);
  }
  return [...groups];
}
