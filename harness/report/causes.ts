/** Results grouped by cause: first those that the diagnosis explains, then those that went wrong in the same way. */
import type { Diagnosis, Exchange, ResultDocument, ScenarioResult } from './result-document.ts';

/** Checks that need the same fix. */
export interface Cause {
  /** What explains them; null when nothing does. */
  readonly diagnosis: Diagnosis | null;
  /** What they have in common. Empty for a single check, which has a title. */
  readonly title: string;
  readonly members: readonly ScenarioResult[];
}

/**
 * The given results by cause, each in one of them: first what the faults of the diagnosis explain, in their order, then
 * the rest by suite and by what went wrong, with the most failures first.
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

/** Whether it is a cause of failures, or diagnosed. Otherwise it is a group of warnings. */
export function isCause({ diagnosis, members }: Cause): boolean {
  return diagnosis !== null || members.some(({ verdict }) => verdict === 'fail');
}

/** With what was found without a failed check, as when nothing is listening on the port: what to fix first. */
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
 * The document with the diagnosis of a full run, for the checks that still fail in the same way: the few outcomes of a
 * partial run allow no other diagnosis.
 */
export function withDiagnosisOf(full: ResultDocument, document: ResultDocument): ResultDocument {
  const before = new Map(full.results.map((result) => [result.id, causeKey(result)]));
  const same = new Set(document.results.filter((one) => before.get(one.id) === causeKey(one)).map(({ id }) => id));
  const diagnosis = full.diagnosis
    .map((one) => ({ ...one, evidence: one.evidence.filter((id) => same.has(id)) }))
    .filter(({ evidence }) => evidence.length > 0);
  return { ...document, diagnosis };
}

/** The same for results that went wrong in the same way; those with an answered status are also kept apart by suite. */
export function causeKey(result: ScenarioResult): string {
  const status = answeredStatus(result);
  // A crash, a closed connection or a broken answer is the same in every suite.
  const suite = status !== null && status < 500 ? result.suite : '';
  return JSON.stringify([suite, whatWentWrong(result)]);
}

/** The status of the decisive answer; null when there was none. */
export function answeredStatus(result: ScenarioResult): number | null {
  const { outcome } = result;
  if (outcome === undefined) return decisiveProbe(result)?.response?.status ?? null;
  return /^\d{3}$/.test(outcome) ? Number(outcome) : null;
}

/** The probe that decided the verdict; undefined when no probe was kept. */
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

/** Groups in the order of their first members. */
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
