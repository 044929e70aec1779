/** `hookproof receiver --fault`: finds the mutant, checks its requirements, and starts it. */
import { writeFile } from 'node:fs/promises';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import type { Scheme } from '../../../contract/signing/schemes/scheme.ts';
import { didYouMean } from '../did-you-mean.ts';
import {
  type FaultyReceiverOptions,
  type ListedFault,
  loadMutants,
  type RunningFaultyReceiver,
} from '../receiver-entry.ts';

type Options = FaultyReceiverOptions;

export interface FaultyReceiver {
  /** The text to print on standard error before the receiver listens. */
  readonly warning: string;
  /** Whether the fault is in the server certificate. If so, the user must not give one. */
  readonly hasCertificate: boolean;
  /**
   * Starts the receiver, and writes the CA of its certificate to `caFile`.
   *
   * @throws HookproofError RECEIVER_FAULT_NEEDS if these options would hide the fault
   */
  readonly open: (options: Options, caFile?: string) => RunningFaultyReceiver;
}

/**
 * Finds the mutant with this fault, in the scheme of another service if there is one.
 *
 * @throws HookproofError RECEIVER_UNKNOWN_FAULT, which suggests similar names
 */
export async function findFaultyReceiver(name: string, scheme?: Scheme): Promise<FaultyReceiver> {
  const { FAULTS, SCHEME_MUTANTS, startFaultyReceiver } = await loadMutants();
  const faults: readonly ListedFault[] =
    scheme === undefined ? FAULTS : SCHEME_MUTANTS.filter(({ suits }) => suits(scheme));
  const fault = faults.find((one) => one.name === name);
  if (fault === undefined) {
    const names = faults.map((one) => one.name);
    const all =
      scheme === undefined ? `\`hookproof list --what faults\` lists all ${names.length}.` : `Use ${names.join(', ')}.`;
    throw new HookproofError('RECEIVER_UNKNOWN_FAULT', `unknown fault "${name}"${inScheme(scheme)}`, {
      hint: `${didYouMean(name, names)}${all}`,
    });
  }
  return {
    warning: warningOf(fault),
    hasCertificate: fault.stage === 'connection' && fault.certificate !== undefined,
    async open(given, caFile) {
      const options = await withCertificate(fault, given, caFile);
      const missing = missingFor(fault, options);
      if (missing === null) return startFaultyReceiver(fault, options);
      throw new HookproofError('RECEIVER_FAULT_NEEDS', `the fault ${name} needs ${missing.what}`, {
        hint: missing.hint,
      });
    },
  };
}

const inScheme = (scheme: Scheme | undefined) => (scheme === undefined ? '' : ` in the scheme of ${scheme.title}`);

function warningOf({ name, title }: ListedFault): string {
  return [
    '',
    '  ******************************************************************************',
    '  *  WARNING: this receiver is faulty on purpose. It exists to test harnesses. *',
    '  *  Never deploy it, and never give it the secrets of a real service.         *',
    '  ******************************************************************************',
    `  ${name}: ${title}`,
    '',
    '',
  ].join('\n');
}

/** Returns what must be configured for the fault to show. */
function missingFor({ area, needs = [] }: ListedFault, options: Options): { what: string; hint: string } | null {
  const needsTls = area === 'tls' || area === 'mtls' || needs.includes('https');
  if (needsTls && options.tls === undefined) {
    return { what: 'HTTPS', hint: 'Give `--tls-quick-start`, or `--tls-cert` and `--tls-key`.' };
  }
  const needsClientCertificates = area === 'mtls' || needs.includes('mtls');
  if (needsClientCertificates && options.tls?.clientCertificate === undefined) {
    return { what: 'mutual TLS', hint: 'Give `--client-ca`.' };
  }
  const needsSecret = ['raw-body', 'signature', 'combination'].includes(area) || needs.includes('hmac');
  if (needsSecret && options.signing === undefined) {
    return { what: 'an HMAC secret', hint: 'Set HOOKPROOF_SECRET, or give `--secret-file`.' };
  }
  if (area === 'effects' && options.effects === undefined) {
    return { what: 'an effects window', hint: 'Give `--effects`, and a token in HOOKPROOF_EFFECTS_TOKEN.' };
  }
  const needsKey = ['api-key', 'combination'].includes(area) || needs.includes('api-key');
  if (!needsKey || options.apiKey !== undefined) return null;
  return { what: 'an API key', hint: 'Set HOOKPROOF_API_KEY, or give `--api-key-file`.' };
}

async function withCertificate(fault: ListedFault, options: Options, caFile: string | undefined): Promise<Options> {
  if (fault.stage !== 'connection' || fault.certificate === undefined) return options;
  const { serverFixture } = await import('../../../certs/index.ts');
  const { cert, key, ca } = await serverFixture(fault.certificate as Parameters<typeof serverFixture>[0]);
  if (caFile !== undefined) await writeFile(caFile, ca);
  return { ...options, tls: { cert, key } };
}
