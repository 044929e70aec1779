/** What the commands about certificates print, and which addresses they may reach. */
import { relative } from 'node:path';
import type { Refusal, Verification } from '../../certify/index.ts';
import type { ResolvedConfig } from '../../config/index.ts';
import { createLayout } from '../../report/index.ts';
import type { AddressPolicy } from '../../transport/index.ts';
import { displayOf } from '../terminal.ts';

type Statement = NonNullable<Verification['statement']>;
type Layout = ReturnType<typeof createLayout>;
type Message = Pick<Refusal, 'code' | 'message' | 'fix'>;

export function outputLayout(): Layout {
  return createLayout(displayOf(process.stdout));
}

/** What the certificate says, a line each. */
export function certificateLines({ predicate, subject }: Statement, layout: Layout): string[] {
  const { passedTests, warnedTests, hookproofCertificate: said } = predicate;
  const counts = [
    `${passedTests.length} passed`,
    ...(warnedTests.length > 0 ? [`${warnedTests.length} with a warning`] : []),
    `${said.notApplicableTests.length} not applicable`,
  ];
  const field = (label: string, text: string) => layout.paragraph(`  ${layout.paint(label.padEnd(13), 'dim')}`, text);
  return [
    ...field('endpoint', said.endpoint.url),
    ...field('profile', `${said.profile}, revision ${said.revision}; with ${said.features.join(', ')}`),
    ...field('checks', counts.join(', ')),
    ...field('issued', `${said.issuedAt} by hookproof ${said.tool.version}`),
    ...field('expires', said.expiresAt),
    ...field('endpoint key', `${subject[2].digest.sha256} (${said.endpoint.tls}, ${said.endpoint.trust} CA)`),
    ...field('result', `sha256 ${subject[0].digest.sha256}`),
    ...field('key id', said.keyId),
  ];
}

export function reasonLines(reasons: readonly Message[], verdict: 'fail' | 'warn', layout: Layout): string[] {
  return reasons.flatMap(({ code, message, fix }) => [
    ...layout.paragraph(`  ${layout.sign(verdict)} `, `${message} (${code})`),
    ...layout.paragraph('    fix  ', fix, 'cyan'),
  ]);
}

/** For `--json`: what was found, and what the certificate says. */
export function certificateJson(statement: Statement | null): unknown {
  if (statement === null) return null;
  const { predicate, subject } = statement;
  const { configuration, hookproofCertificate, ...tests } = predicate;
  const digests = [...subject, ...configuration].map(({ name, digest }) => [name, digest.sha256]);
  return { ...hookproofCertificate, ...tests, digests: Object.fromEntries(digests) };
}

/** Prints on standard output when a report for people went there, and on standard error otherwise. */
export function print({ reporters }: ResolvedConfig, lines: (layout: Layout) => readonly string[]): void {
  const forPeople = reporters.some(({ name, file }) => (name === 'human' || name === 'github') && file === null);
  const stream = forPeople ? process.stdout : process.stderr;
  stream.write(`\n${lines(createLayout(displayOf(stream))).join('\n')}\n`);
}

export function notCertified(refusals: readonly Refusal[]): (layout: Layout) => readonly string[] {
  return (layout) => [
    `${layout.sign('fail')} ${layout.paint('NOT CERTIFIED', 'bold', 'red')}`,
    ...reasonLines(refusals, 'fail', layout),
  ];
}

/** A path relative to the current folder when it is below it. */
export function shownPath(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

/**
 * Which addresses `certify` delivers to. URLs come from partners, who must not be able to point the operator's machine
 * at its own network; a private address has to be allowed by name.
 */
export function certifiable({ run }: Pick<ResolvedConfig, 'run'>): AddressPolicy {
  return { reach: 'public-only', allowPrivate: run.allowPrivate };
}
