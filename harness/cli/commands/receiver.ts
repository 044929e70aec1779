/** `hookproof receiver`: serves the reference receiver until a signal comes. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { readCredential } from '../../config/index.ts';
import { loadHandlers } from '../handlers-file.ts';
import { inboxUrl } from '../inbox-source.ts';
import { keepCertificates } from '../keep-certificates.ts';
import { createLogger, openInbox, openReceiver } from '../receiver-door.ts';
import { type InspectFlags, openInspected } from '../receiver-inspector.ts';
import { type TlsFlags, tlsSettings } from '../receiver-tls.ts';

interface ReceiverFlags extends TlsFlags, InspectFlags {
  readonly host: string;
  readonly port: string;
  readonly path?: string;
  readonly secretFile?: string[];
  readonly signatureHeader?: string;
  readonly apiKeyFile?: string[];
  readonly apiKeyHeader?: string;
  readonly bodyLimit?: string;
  readonly inbox?: string;
  readonly handlers?: string;
  readonly open?: boolean;
  readonly fault?: string;
}

function wholeNumber(text: string, flag: string, most: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= most) return value;
  throw new HookproofError('RECEIVER_BAD_NUMBER', `${flag} ${text} is not a whole number from 0 to ${most}`, {
    hint: `For example ${flag} 3000.`,
  });
}

/** Every file that is named, or else the variable. */
async function credentials(
  files: readonly string[] | undefined,
  noun: string,
  flag: string,
  variable: string,
): Promise<string[]> {
  const read = async (file: string | undefined) => {
    const { value, advice } = await readCredential({
      noun,
      flag,
      file,
      variable,
      env: process.env,
      cwd: process.cwd(),
      stdin: process.stdin,
    });
    for (const sentence of advice) process.stderr.write(`advice: ${sentence}\n`);
    return value === undefined ? [] : [value];
  };
  return (await Promise.all((files ?? [undefined]).map(read))).flat();
}

/** A mutant with a wrong certificate serves that one; its authority goes into the file for that of the quick start. */
function withoutCertificate(flags: ReceiverFlags): ReceiverFlags {
  if (flags.tlsCert === undefined && flags.tlsKey === undefined) {
    const { tlsQuickStart: _, tlsQuickStartCa: __, ...others } = flags;
    return others;
  }
  throw new HookproofError('RECEIVER_FAULT_CERTIFICATE', `the fault ${flags.fault} serves a certificate of its own`, {
    hint: 'Leave --tls-cert and --tls-key out.',
  });
}

/** The mutants are loaded only for those who ask for one. */
async function faultCalled(name: string) {
  return (await import('../faulty-receiver.ts')).findFaultyReceiver(name);
}

export async function receiverCommand(flags: ReceiverFlags): Promise<number> {
  const fault = flags.fault === undefined ? null : await faultCalled(flags.fault);
  const secrets = await credentials(flags.secretFile, 'signature secret', '--secret-file', 'HOOKPROOF_SECRET');
  const keys = await credentials(flags.apiKeyFile, 'API key', '--api-key-file', 'HOOKPROOF_API_KEY');
  const { read, files, clientCertificate } = await tlsSettings(
    fault?.hasCertificate === true ? withoutCertificate(flags) : flags,
  );
  const first = read === null ? null : await read();
  const tls = first?.tls;
  for (const sentence of first?.advice ?? []) process.stderr.write(`advice: ${sentence}\n`);
  const asksClients = tls?.clientCertificate !== undefined || clientCertificate !== undefined;
  if (secrets.length + keys.length === 0 && !asksClients && flags.open !== true) {
    throw new HookproofError('RECEIVER_UNPROTECTED', 'neither a signature secret nor an API key is given', {
      hint: 'Set HOOKPROOF_SECRET or HOOKPROOF_API_KEY, name a file with --secret-file or --api-key-file, or say --open to take deliveries from anyone.',
    });
  }
  const logger = createLogger();
  const handlers = flags.handlers === undefined ? {} : await loadHandlers(flags.handlers);
  const source = inboxUrl(flags.inbox);
  const inbox = source === undefined ? undefined : await openInbox(source, { logger });
  const options = {
    host: flags.host,
    port: wholeNumber(flags.port, '--port', 65_535),
    ...(flags.path === undefined ? {} : { path: flags.path }),
    ...(secrets.length === 0
      ? {}
      : { signing: { secrets, ...(flags.signatureHeader === undefined ? {} : { header: flags.signatureHeader }) } }),
    ...(keys.length === 0
      ? {}
      : { apiKey: { keys, ...(flags.apiKeyHeader === undefined ? {} : { header: flags.apiKeyHeader }) } }),
    ...(flags.open === true ? { open: true as const } : {}),
    ...(flags.bodyLimit === undefined ? {} : { bodyLimit: wholeNumber(flags.bodyLimit, '--body-limit', 2 ** 31) }),
    ...(tls === undefined ? {} : { tls }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    handlers,
    ...(inbox === undefined ? {} : { inbox }),
    logger,
  };
  const portOf = (text: string) => wholeNumber(text, '--inspect', 65_535);
  const receiver = await openInspected(flags, portOf, options, (observers) => {
    const observed = { ...options, observers };
    return fault === null ? openReceiver(observed) : fault.open(observed, flags.tlsQuickStartCa);
  });
  const stopKeeping =
    read === null || tls === undefined
      ? () => {}
      : keepCertificates({ current: tls, read, files, reload: receiver.reloadTls, logger });
  // Before it says that it listens: whoever waits for that may send the signal at once.
  const stopped = new Promise<number>((resolve) => {
    process.once('SIGINT', () => resolve(0));
    process.once('SIGTERM', () => resolve(0));
  });
  if (fault !== null) process.stderr.write(fault.warning);
  process.stderr.write(`listening at ${receiver.url}\n`);
  if (receiver.inspectorUrl !== null) process.stderr.write(`inspector at ${receiver.inspectorUrl}\n`);
  const code = await stopped;
  stopKeeping();
  await receiver.close();
  await inbox?.close();
  return code;
}
