/** What failed, by cause: what the diagnosis accounts for, and then what went wrong alike. Every report groups by this. Pure. */
import type { Diagnosis, ResultDocument, ScenarioResult } from './result-document.ts';

/** Checks that want the same mending. */
export interface Cause {
  /** The fault that accounts for them; null when no known fault does. */
  readonly diagnosis: Diagnosis | null;
  /** What they have in common, in the words of the report. Empty for a single check, which speaks for itself. */
  readonly title: string;
  readonly members: readonly ScenarioResult[];
}

/** In a flow the reason names the delivery first, which is another one in each check. */
function withoutLabel({ delivery, reason }: ScenarioResult): string {
  const label = delivery == null ? '' : `${delivery}: `;
  return label !== '' && reason.startsWith(label) ? reason.slice(label.length) : reason;
}

/** What went wrong, in words. */
function whatWentWrong(result: ScenarioResult): string {
  return withoutLabel(result) || `observed ${result.observed || 'nothing'}, expected ${result.expected}`;
}

/** What was answered is a matter of the check; a crash, a closed connection or a broken answer is the same in every suite. */
const ANSWERED = /^[2-4]\d\d\b/;

/** Two cases have the same cause when they went wrong in the same way, and, where an answer was wrong, stand in one suite. */
export function causeOf(result: ScenarioResult): string {
  return JSON.stringify([ANSWERED.test(result.observed) ? result.suite : '', whatWentWrong(result)]);
}

/** The failures first, and the larger group before the smaller one; else in the order of the run. */
function byWeight(one: Cause, other: Cause): number {
  const failures = (cause: Cause) => cause.members.filter(({ verdict }) => verdict === 'fail').length;
  return failures(other) - failures(one) || other.members.length - one.members.length;
}

/**
 * The given results by cause, each in one of them: first what the faults of the diagnosis account for, in their order, then the rest,
 * by suite and by what went wrong, the largest group first.
 */
export function causesOf(results: readonly ScenarioResult[], diagnosis: ResultDocument['diagnosis']): Cause[] {
  const left = new Set(results);
  const explained = diagnosis
    .filter(({ relation }) => relation !== 'or')
    .map((one): Cause => {
      const evidence = new Set(one.evidence);
      const members = [...left].filter(({ id }) => evidence.has(id));
      for (const member of members) left.delete(member);
      return { diagnosis: one, title: one.title, members };
    });
  const rest = groupBy([...left], causeOf).map(([, members]): Cause => {
    const [first] = members;
    const title = first === undefined || members.length === 1 ? '' : whatWentWrong(first);
    return { diagnosis: null, title, members };
  });
  return [...explained.filter(({ members }) => members.length > 0), ...rest.toSorted(byWeight)];
}

/** Groups in the order in which their first member came. */
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
