/** `hookproof receiver --fault`: finds the mutant, its certificate if it serves one of its own, and the words of warning. */
import { writeFile } from 'node:fs/promises';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { didYouMean } from '../near-names.ts';
import { type Fault, type FaultyReceiverOptions, loadMutants, type RunningFaultyReceiver } from '../receiver-entry.ts';

type Options = FaultyReceiverOptions;

export interface FaultyReceiver {
  /** For standard error, before it listens. */
  readonly warning: string;
  /** Whether it serves a wrong certificate of its own, so that none has to be given. */
  readonly hasCertificate: boolean;
  /** Starts it. Throws {@link HookproofError} `RECEIVER_FAULT_NEEDS` when the fault cannot show with these options. */
  readonly open: (options: Options, authorityFile?: string) => RunningFaultyReceiver;
}

function warningOf({ name, title }: Fault): string {
  return [
    '',
    '  ******************************************************************************',
    '  *  WARNING: this receiver is wrong on purpose. It exists to try harnesses    *',
    '  *  out. Never deploy it, and never give it the secrets of a real service.    *',
    '  ******************************************************************************',
    `  ${name}: ${title}`,
    '',
    '',
  ].join('\n');
}

/** What has to be configured for the fault to show, in the words of the flags. */
function missingFor({ area, needs = [] }: Fault, options: Options): string | null {
  const overTls = area === 'tls' || area === 'mtls' || needs.includes('https');
  if (overTls && options.tls === undefined) return 'HTTPS: give --tls-quick-start, or --tls-cert and --tls-key';
  const asksClients = area === 'mtls' || needs.includes('mtls');
  if (asksClients && options.tls?.clientCertificate === undefined) return 'mutual TLS: give --client-ca';
  const signs = ['raw-body', 'signature', 'combination'].includes(area) || needs.includes('hmac');
  if (signs && options.signing === undefined) return 'a signature secret: set HOOKPROOF_SECRET or give --secret-file';
  const keys = ['api-key', 'combination'].includes(area) || needs.includes('api-key');
  return keys && options.apiKey === undefined ? 'an API key: set HOOKPROOF_API_KEY or give --api-key-file' : null;
}

async function withCertificate(fault: Fault, options: Options, authorityFile: string | undefined): Promise<Options> {
  if (fault.stage !== 'connection' || fault.certificate === undefined) return options;
  const { serverFixture } = await import('../../../certs/index.ts');
  const { cert, key, ca } = await serverFixture(fault.certificate as Parameters<typeof serverFixture>[0]);
  if (authorityFile !== undefined) await writeFile(authorityFile, ca);
  return { ...options, tls: { cert, key } };
}

/** Throws {@link HookproofError} `RECEIVER_UNKNOWN_FAULT`, with the names that are near. */
export async function findFaultyReceiver(name: string): Promise<FaultyReceiver> {
  const { FAULTS, startFaultyReceiver } = await loadMutants();
  const fault = FAULTS.find((one) => one.name === name);
  if (fault === undefined) {
    const names = FAULTS.map((one) => one.name);
    throw new HookproofError('RECEIVER_UNKNOWN_FAULT', `there is no fault "${name}"`, {
      hint: `${didYouMean(name, names)}\`hookproof list --what faults\` shows all ${names.length}.`,
    });
  }
  return {
    warning: warningOf(fault),
    hasCertificate: fault.stage === 'connection' && fault.certificate !== undefined,
    async open(given, authorityFile) {
      const options = await withCertificate(fault, given, authorityFile);
      const missing = missingFor(fault, options);
      if (missing === null) return startFaultyReceiver(fault, options);
      throw new HookproofError('RECEIVER_FAULT_NEEDS', `the fault ${name} shows only with ${missing.split(':')[0]}`, {
        hint: `${missing.split(': ')[1]?.replace(/^./, (first) => first.toUpperCase())}.`,
      });
    },
  };
}
