/** The output of the certification commands. */
import { describeScheme } from '../../../contract/signing/schemes/sign-scheme.ts';
import type { Refusal, Verification } from '../../certify/index.ts';
import type { ResolvedConfig } from '../../config/index.ts';
import { createLayout } from '../../report/index.ts';
import { isTerminalReport } from '../conduct.ts';
import { displayOf } from '../terminal.ts';

type VerifiedStatement = NonNullable<Verification['statement']>;
type CertifiedScheme = VerifiedStatement['predicate']['hookproofCertificate']['scheme'];
type Layout = ReturnType<typeof createLayout>;
type Message = Pick<Refusal, 'code' | 'message' | 'fix'>;

export function outputLayout(): Layout {
  return createLayout(displayOf(process.stdout));
}

/** Returns text such as "stripe: hex of HMAC-SHA256 over <timestamp>.<body>, as …; tolerance 300 s". */
function schemeText({ toleranceSeconds, ...scheme }: NonNullable<CertifiedScheme>): string {
  const tolerance = toleranceSeconds === undefined ? '' : `; tolerance ${toleranceSeconds} s`;
  return `${scheme.name}: ${describeScheme(scheme)}${tolerance}`;
}

/** Returns the content of a certificate, one line per field. */
export function certificateLines(statement: VerifiedStatement, layout: Layout): string[] {
  const { predicate, subject } = statement;
  const { passedTests, warnedTests, hookproofCertificate: certificate } = predicate;
  const counts = [
    `${passedTests.length} passed`,
    ...(warnedTests.length > 0 ? [`${warnedTests.length} with a warning`] : []),
    `${certificate.notApplicableTests.length} not applicable`,
  ];
  const field = (label: string, text: string) => layout.paragraph(`  ${layout.paint(label.padEnd(13), 'dim')}`, text);
  return [
    ...field('endpoint', certificate.endpoint.url),
    ...field(
      'profile',
      `${certificate.profile}, revision ${certificate.revision}; with ${certificate.features.join(', ')}`,
    ),
    ...(certificate.scheme === undefined ? [] : field('scheme', schemeText(certificate.scheme))),
    ...field('evidence', `level ${certificate.evidence.level}: ${certificate.evidence.statement}`),
    ...field('checks', counts.join(', ')),
    ...(warnedTests.length > 0 ? field('WARNED', warnedTests.join(', ')) : []),
    ...field('issued', `${certificate.issuedAt} by hookproof ${certificate.tool.version}`),
    ...field('expires', certificate.expiresAt),
    ...field(
      'endpoint key',
      `${subject[2].digest.sha256} (${certificate.endpoint.tls}, ${certificate.endpoint.trust} CA)`,
    ),
    ...field('result', `sha256 ${subject[0].digest.sha256}`),
    ...field('key id', certificate.keyId),
  ];
}

export function reasonLines(reasons: readonly Message[], verdict: 'fail' | 'warn', layout: Layout): string[] {
  return reasons.flatMap(({ code, message, fix }) => [
    ...layout.paragraph(`  ${layout.sign(verdict)} `, `${message} (${code})`),
    ...layout.paragraph('    fix  ', fix, 'cyan'),
  ]);
}

/** Returns the content of a certificate for `--json`. */
export function certificateJson(statement: VerifiedStatement | null): unknown {
  if (statement === null) return null;
  const { predicate, subject } = statement;
  const { configuration, hookproofCertificate, ...tests } = predicate;
  const digests = [...subject, ...configuration].map(({ name, digest }) => [name, digest.sha256]);
  return { ...hookproofCertificate, ...tests, digests: Object.fromEntries(digests) };
}

/** Prints to standard output if a report for people was printed there, otherwise to standard error. */
export function print({ reporters }: ResolvedConfig, lines: (layout: Layout) => readonly string[]): void {
  const stream = reporters.some(isTerminalReport) ? process.stdout : process.stderr;
  stream.write(`\n${lines(createLayout(displayOf(stream))).join('\n')}\n`);
}

export function notCertified(refusals: readonly Refusal[]): (layout: Layout) => readonly string[] {
  return (layout) => [
    `${layout.sign('fail')} ${layout.paint('NOT CERTIFIED', 'bold', 'red')}`,
    ...reasonLines(refusals, 'fail', layout),
  ];
}
