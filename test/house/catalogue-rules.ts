import type { Requirement, Scenario, Suite } from '../../scenarios/index.ts';

/** What is wrong with the register of requirements against these suites, a line each. */
export function registerFaults(register: readonly Requirement[], suites: readonly Suite[]): string[] {
  const scenarios = suites.flatMap((suite) => suite.scenarios);
  const known = new Set(register.map(({ id }) => id));
  const judged = new Set<string>(scenarios.flatMap(({ requirements }) => requirements));
  const unknown = scenarios.flatMap(({ id, requirements }) =>
    requirements.filter((name) => !known.has(name)).map((name) => `${id}: no requirement ${name}`),
  );
  const repeated = register.map(({ id }) => id).filter((id, at, all) => all.indexOf(id) !== at);
  const binding = register.flatMap((entry) => {
    const has = judged.has(entry.id);
    const reason = entry.untested !== undefined && entry.untested.trim() !== '';
    if (has && reason) return [`${entry.id}: scenarios and a reason why there are none`];
    if (entry.level === 'must' && !has && !reason) return [`${entry.id}: neither a scenario nor a reason`];
    return [];
  });
  return [...unknown, ...repeated.map((id) => `${id}: twice in the register`), ...binding];
}

/** What is wrong with the ids of these suites, a line each. */
export function idFaults(suites: readonly Suite[]): string[] {
  const ids = suites.flatMap(({ scenarios }) => scenarios.map(({ id }) => id));
  const malformed = suites.flatMap(({ name, scenarios }) =>
    scenarios.filter(({ id }) => !isIdOf(id, name)).map(({ id }) => `${id}: is not ${name}/slug`),
  );
  return [...malformed, ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${id}: twice`)];
}

function isIdOf(id: string, suite: string): boolean {
  return id.startsWith(`${suite}/`) && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(id.slice(suite.length + 1));
}

/** Values that occur more than once. */
export function repeated(values: readonly string[]): string[] {
  return [...new Set(values.filter((value, at) => values.indexOf(value) !== at))];
}

/** What is wrong with the words of a scenario, a line each. */
export function textFaults({ id, title, why, fix }: Scenario): string[] {
  const texts = { title, why, fix };
  const short = Object.entries(texts).filter(([, text]) => text.trim().length < 12 || text !== text.trim());
  return [
    ...short.map(([name]) => `${id}: ${name} says nothing`),
    ...(title.endsWith('.') ? [`${id}: title ends with a full stop`] : []),
    ...[why, fix].filter((text) => !/[.!?`]$/.test(text)).map((text) => `${id}: no sentence: ${text.slice(-20)}`),
  ];
}
