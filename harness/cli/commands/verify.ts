/** `hookproof verify`: checks whether a signature matches, and explains why not, offline. */
import { explainSignature } from '../../../contract/signing/index.ts';
import { credential, readInput, requiredSecret } from '../command-input.ts';

interface VerifyFlags {
  readonly signature: string;
  readonly secretFile?: string;
  readonly apiKeyFile?: string;
  readonly url?: string;
  readonly json?: boolean;
}

export async function verifyCommand(file: string, flags: VerifyFlags): Promise<number> {
  const secret = await requiredSecret(flags.secretFile);
  const apiKey = await credential({
    noun: 'API key',
    flag: '--api-key-file',
    file: flags.apiKeyFile,
    variable: 'HOOKPROOF_API_KEY',
    // It may hold the body.
    stdin: undefined,
  });
  const body = await readInput(file);
  const report = explainSignature({
    body,
    secret,
    header: flags.signature,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(flags.url === undefined ? {} : { url: flags.url }),
  });
  if (flags.json === true) {
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    return report.matches ? 0 : 1;
  }
  if (report.matches) {
    process.stdout.write(`✓ the signature matches (${body.length} bytes)\n`);
    return 0;
  }
  const { explanation } = report;
  const lines = ['✗ the signature does not match', ''];
  if (explanation !== null) {
    lines.push(`${explanation.title} (${explanation.fault})`, `  Why  ${explanation.why}`, `  Fix  ${explanation.fix}`);
  } else {
    lines.push(
      `None of ${report.tried} known mistakes explains it: it was made with another secret, or from another body.`,
      '  Fix  Compare the secrets on both sides, and check that this file holds exactly the received bytes.',
    );
  }
  for (const finding of report.header) lines.push('', `Header: ${finding.title}`);
  process.stdout.write(`${lines.join('\n')}\n`);
  return 1;
}
