/** `hookproof verify`: checks whether a signature matches, and explains why not, offline. */

import { HookproofError } from '../../../contract/index.ts';
import { explainMistake } from '../../../contract/mistakes/index.ts';
import { explainSignature, type MistakeExplanation, type SignatureReport } from '../../../contract/signing/index.ts';
import { credential, readInput, requiredSecret } from '../command-input.ts';
import { writeWrapped } from '../wrapped-text.ts';
import { verifyInScheme } from './scheme.ts';

interface VerifyFlags {
  readonly signature?: string;
  readonly scheme?: string;
  readonly header?: readonly string[];
  readonly secretFile?: string;
  readonly apiKeyFile?: string;
  readonly url?: string;
  readonly json?: boolean;
}

export async function verifyCommand(file: string, flags: VerifyFlags): Promise<number> {
  const { scheme, signature } = flags;
  if (scheme !== undefined && signature === undefined) return verifyInScheme(file, { ...flags, scheme });
  if (signature === undefined || scheme !== undefined || flags.header !== undefined) {
    throw new HookproofError('VERIFY_SIGNATURE', 'give `--signature`, or `--scheme` with the headers', {
      hint: "For another service, give `--scheme NAME`, and `--header 'Name: value'` for each header.",
    });
  }
  const secret = await requiredSecret(flags.secretFile);
  const apiKey = await credential({
    noun: 'API key',
    flag: '--api-key-file',
    file: flags.apiKeyFile,
    variable: 'HOOKPROOF_API_KEY',
    // The API key is never read from standard input, which may contain the body.
    stdin: undefined,
  });
  const body = await readInput(file);
  const report = explainSignature({
    body,
    secret,
    header: signature,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(flags.url === undefined ? {} : { url: flags.url }),
  });
  const code = report.matches && report.printed === null ? 0 : 1;
  if (flags.json === true) {
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  } else if (code === 0) {
    process.stdout.write(`✓ the signature matches (${body.length} bytes)\n`);
  } else {
    const lines = report.matches ? [MATCHES_FORM, ''] : failureLines(report, body.length);
    writeWrapped(`${[...lines, ...formLines(report), ...notTried(report, flags, apiKey)].join('\n')}\n`);
  }
  return code;
}

/** Returns what else can be tried if nothing explains the signature. */
function notTried({ matches, explanation }: SignatureReport, { url }: VerifyFlags, apiKey?: string): string[] {
  const missing = [url === undefined && '`--url URL`', apiKey === undefined && '`--api-key-file FILE`'];
  const flags = missing.filter((flag) => flag !== false);
  if (matches || explanation !== null || flags.length === 0) return [];
  return ['', `Signatures over the URL, its path or the API key were not tried: add ${flags.join(' and ')}.`];
}

const MATCHES_FORM = '✗ the signature matches, but this file is not a notification';

/** Describes the file if it contains a printed form of a notification. */
function formLines({ printed, matches }: SignatureReport): string[] {
  return printed === null ? [] : [...(matches ? [] : ['']), ...explanationLines(printed)];
}

function explanationLines({ fault, title, mistake, why, fix }: MistakeExplanation): string[] {
  const more = `  More \`hookproof explain ${mistake}\` has the fix for each stack.`;
  return [`${title} (${fault})`, `  Why  ${why}`, `  Fix  ${fix}`, more];
}

function failureLines({ explanation, header, tried }: SignatureReport, bytes: number): string[] {
  const [empty] = header.filter(({ name }) => name === EMPTY_HEADER);
  if (empty !== undefined) {
    return ['✗ the signature header is empty: there is nothing to compare', '', `  Fix  ${empty.note}`, QUOTE];
  }
  const lines = ['✗ the signature does not match', ''];
  if (explanation !== null) {
    lines.push(...explanationLines(explanation));
    if (header.some(({ name }) => name === explanation.fault)) lines.push('       The signature inside it is correct.');
  } else {
    lines.push(
      `None of ${tried} known mistakes explains it: it was made with another secret, or from another body.`,
      '  Fix  Compare the secrets on both sides, and check that this file holds exactly the received bytes.',
    );
  }
  if (bytes === 0)
    lines.push('', 'The body is empty (0 bytes).', '  Fix  Check that the file holds the received body.');
  // The mistake that explains a value also explains its length.
  const explained = explanation === null ? [] : [explanation.title, WRONG_LENGTH];
  for (const finding of header.filter(({ title, name }) => ![title, name].some((one) => explained.includes(one)))) {
    lines.push('', `Header: ${finding.title}`, `  Fix  ${explainMistake(finding).fix}`);
  }
  return lines;
}

const EMPTY_HEADER = 'empty-header';
const WRONG_LENGTH = 'wrong-length';
const QUOTE = '       In a shell, check that the variable is set: `--signature "$HEADER"`.';
