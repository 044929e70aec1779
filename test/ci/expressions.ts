/** The few expressions of GitHub Actions that our own workflow and action use. Whatever else stands in one is refused, never guessed. */

/** Contexts by name: `inputs`, `steps`, ... */
export type Contexts = Readonly<Record<string, unknown>>;

const ALL = /\$\{\{\s*(.*?)\s*\}\}/gs;
const PATH = /^[a-z][\w-]*(?:\.[A-Za-z_][\w-]*)+$/;

function lookUp(path: string, contexts: Contexts): string {
  if (!PATH.test(path)) throw new Error(`the expression "${path}" is none that this player knows`);
  let value: unknown = contexts;
  const walked: string[] = [];
  for (const name of path.split('.')) {
    const known = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    // GitHub takes what does not exist for an empty text, which hides misspelt names.
    if (!known) throw new Error(`in "${path}" there is no ${[...walked, name].join('.')}`);
    value = (value as Record<string, unknown>)[name];
    walked.push(name);
  }
  if (typeof value !== 'string') throw new Error(`"${path}" is no text`);
  return value;
}

/** The text with the value of every expression in its place. */
export function evaluate(text: unknown, contexts: Contexts): string {
  return String(text).replace(ALL, (_, expression: string) => lookUp(expression, contexts));
}

/** Whether a step with this `if` runs, after others that went well or not. */
export function holds(condition: unknown, failed: boolean): boolean {
  switch (condition) {
    case undefined:
    case 'success()':
      return !failed;
    case 'always()':
      return true;
    case 'failure()':
      return failed;
    default:
      throw new Error(`the condition "${condition}" is none that this player knows`);
  }
}

/** What a step has written to its file of outputs or variables: `name=value`, or `name<<END` up to the line `END`. */
export function readAssignments(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  const lines = text.split('\n');
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const [, name = '', end] = /^([^=<]+)<<(.+)$/.exec(line) ?? [];
    const [, plain, value = ''] = /^([^=]+)=(.*)$/s.exec(line) ?? [];
    if (end !== undefined) {
      const last = lines.indexOf(end);
      if (last < 0) throw new Error(`the value of ${name} does not end`);
      found[name] = lines
        .splice(0, last + 1)
        .slice(0, -1)
        .join('\n');
    } else if (plain !== undefined) found[plain] = value;
    else if (line !== '') throw new Error(`the line ${JSON.stringify(line)} is no assignment`);
  }
  return found;
}
