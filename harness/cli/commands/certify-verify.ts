/** `hookproof certify verify`: whether a certificate is good, offline, with reasons. */
import { certificateJson, certificateLines, outputLayout, reasonLines } from '../certificate-words.ts';
import { type VerifyFlags, verifyFile } from '../verify-certificate.ts';

export async function certifyVerifyCommand(
  file: string,
  { json, ...flags }: VerifyFlags & { readonly json?: boolean },
): Promise<number> {
  const verification = await verifyFile(file, flags);
  const { valid, reasons, warnings, statement } = verification;
  if (json === true) {
    const document = { valid, reasons, warnings, certificate: certificateJson(statement) };
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return valid ? 0 : 1;
  }
  const layout = outputLayout();
  const verdict = valid ? layout.paint('VALID', 'bold', 'green') : layout.paint('NOT VALID', 'bold', 'red');
  const lines = [
    `${layout.sign(valid ? 'pass' : 'fail')} ${verdict}`,
    ...reasonLines(reasons, 'fail', layout),
    ...reasonLines(warnings, 'warn', layout),
    ...(statement === null ? [] : certificateLines(statement, layout)),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return valid ? 0 : 1;
}
