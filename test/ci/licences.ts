/** Which licences the dependencies of the package may have. SPDX expressions, read by their grammar. Pure. */

/** Permissive ones, by their SPDX identifier. Another one is added by a person who has read it. */
const ALLOWED: ReadonlySet<string> = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0'],
  ...['Unlicense', 'CC0-1.0', 'Zlib', 'Python-2.0'],
]);

/** The part of CycloneDX that is looked at. */
export interface Component {
  readonly name: string;
  readonly version?: string;
  readonly licenses?: readonly {
    readonly license?: { readonly id?: string; readonly name?: string };
    readonly expression?: string;
  }[];
}

/**
 * Whether an SPDX licence expression leaves a way that is allowed: of OR one side, of AND both. An exception (WITH) only ever allows more. What is
 * no such expression is not allowed.
 */
export function isAllowed(expression: string): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? [];
  const take = (token: string) => tokens[0]?.toUpperCase() === token && tokens.shift() !== undefined;
  const operand = (): boolean => {
    if (take('(')) {
      const inner = either();
      if (!take(')')) throw new SyntaxError(')');
      return inner;
    }
    const id = tokens.shift();
    if (id === undefined || /^(?:\)|AND|OR|WITH)$/i.test(id)) throw new SyntaxError(id);
    if (take('WITH') && tokens.shift() === undefined) throw new SyntaxError('WITH');
    return ALLOWED.has(id.replace(/\+$/, ''));
  };
  const both = (): boolean => {
    let good = operand();
    while (take('AND')) good = operand() && good;
    return good;
  };
  const either = (): boolean => {
    let good = both();
    while (take('OR')) good = both() || good;
    return good;
  };
  try {
    return either() && tokens.length === 0;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** What a component says about its licence, as one expression; empty when it says nothing. */
export function licenceOf({ licenses = [] }: Component): string {
  return licenses
    .map(({ expression, license }) => `(${expression ?? license?.id ?? license?.name ?? ''})`)
    .join(' AND ');
}

/** The components that may not be depended on, each with what it says. */
export function refused(components: readonly Component[]): string[] {
  return components
    .filter((component) => !isAllowed(licenceOf(component)))
    .map((component) => `${component.name} ${component.version ?? ''}: ${licenceOf(component) || 'no licence'}`);
}
