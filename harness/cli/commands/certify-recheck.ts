/** `hookproof certify recheck`: a short canary against an endpoint that was certified. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import {
  type Drift,
  missingFeatures,
  type Reason,
  recheck,
  urlDigest,
  type Verification,
} from '../../certify/index.ts';
import type { ConfigFlags } from '../../config/index.ts';
import { createRedactor } from '../../report/index.ts';
import { featuresOf } from '../../run/index.ts';
import { certifiable } from '../certifiable-addresses.ts';
import { certificateJson, certificateLines, outputLayout, reasonLines } from '../certificate-words.ts';
import { commandConfig } from '../command-config.ts';
import { interruptible } from '../interruptible.ts';
import { namedSecrets } from '../named-secrets.ts';
import { verifyFile } from '../verify-certificate.ts';

interface RecheckFlags extends ConfigFlags {
  readonly config?: string;
  readonly key: readonly string[];
  readonly json?: boolean;
  readonly strict?: boolean;
}

interface Outcome {
  readonly verification: Verification;
  readonly drift: readonly Drift[];
  /** Null when nothing was sent. */
  readonly checks: readonly { readonly id: string; readonly verdict: string }[] | null;
}

export async function certifyRecheckCommand(
  file: string,
  url: string | undefined,
  { config: configFile, key, json, strict, ...given }: RecheckFlags,
): Promise<number> {
  const first = await verifyFile(file, { key, ...(strict && { strict }) });
  // A certificate that is not good says nothing about any endpoint, so nothing is sent.
  if (!first.valid || first.statement === null) return tell({ verification: first, drift: [], checks: null }, json);

  const { statement } = first;
  const config = await commandConfig(url ?? urlFor(statement), configFile, given);
  const verification = await verifyFile(file, { key, url: config.partner.url, ...(strict && { strict }) });
  if (!verification.valid) return tell({ verification, drift: [], checks: null }, json);
  const missing = missingFeatures(statement, featuresOf(config.partner, config.clientFixtures));
  if (missing.length > 0) {
    throw new HookproofError(
      'CERTIFY_RECHECK_FEATURES',
      `the certificate is for an endpoint with ${missing.join(', ')}, and that is not configured`,
      {
        hint: 'Configure the endpoint as when it was certified: secret, API key, client certificate.',
      },
    );
  }
  const interruption = interruptible();
  const redactor = createRedactor({ values: namedSecrets(config.secrets) });
  try {
    const { concurrency, timeoutMs, recoveryMs } = config.run;
    const { drift, document } = await recheck({
      statement,
      partner: config.partner,
      addresses: certifiable(config),
      limits: { concurrency, timeoutMs, recoveryMs },
      signal: interruption.signal,
      onSignature: (signature) => redactor.addSignature(signature),
    });
    const clean = drift.map((one) => ({ ...one, message: redactor.text(one.message) }));
    const checks = document.results.map(({ id, verdict }) => ({ id, verdict }));
    const code = tell({ verification, drift: clean, checks }, json);
    return interruption.exitCode() ?? code;
  } finally {
    interruption.dispose();
  }
}

/** The URL of the certificate, where it is whole: one with a query is not in there, and has to be configured. */
function urlFor({ predicate, subject }: NonNullable<Verification['statement']>): string | undefined {
  if ((process.env.HOOKPROOF_URL ?? '') !== '') return undefined;
  const { url } = predicate.hookproofCertificate.endpoint;
  return urlDigest(url) === subject[1].digest.sha256 ? url : undefined;
}

function tell({ verification, drift, checks }: Outcome, json: boolean | undefined): number {
  const { reasons, warnings, statement } = verification;
  const found: readonly (Reason | Drift)[] = [...reasons, ...drift];
  const exit = reasons.length > 0 || drift.some((one) => one.exit === 1) ? 1 : drift.length > 0 ? 3 : 0;
  if (json === true) {
    const document = { steady: exit === 0, reasons, warnings, drift, checks, certificate: certificateJson(statement) };
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
    return exit;
  }
  const layout = outputLayout();
  const words = { 0: 'AS CERTIFIED', 1: checks === null ? 'NOT VALID' : 'DRIFTED', 3: 'NO VERDICT' }[exit];
  const sign = { 0: 'pass', 1: 'fail', 3: 'inconclusive' }[exit] as 'pass';
  const passed = checks?.filter(({ verdict }) => verdict === 'pass').length ?? 0;
  const lines = [
    `${layout.sign(sign)} ${layout.paint(words, 'bold', layout.style(sign))}`,
    ...reasonLines(found, 'fail', layout),
    ...reasonLines(warnings, 'warn', layout),
    ...(statement === null ? [] : certificateLines(statement, layout)),
    ...(checks === null
      ? ['  nothing was sent']
      : [`  ${passed} of ${checks.length} canary checks passed: ${checks.map(({ id }) => id).join(', ')}`]),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return exit;
}
