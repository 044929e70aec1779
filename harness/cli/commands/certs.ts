/** `hookproof certs`: writes certificates for trying out HTTPS and mutual TLS, and says how they are used. */
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { makeWorkingSet, WORKING_SET_FILES, type WorkingSet, type WorkingSetOptions } from '../../../certs/index.ts';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { placeFiles, presentFiles } from '../place-files.ts';

interface CertsFlags {
  readonly host?: string[];
  readonly days?: string;
  readonly key: WorkingSetOptions['key'];
  readonly clientCn?: string;
  readonly keepCaKeys?: boolean;
  readonly force?: boolean;
}

const THIS_MACHINE = ['localhost', '127.0.0.1', '::1'];
/** Well over the 30 days below which a run warns of the end. */
const DEFAULT_DAYS = 90;
/** Apple's systems refuse server certificates that are valid for longer. */
const MAX_DAYS = 825;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** A host name, `*.` and a host name, or an address, as a certificate can hold it. */
function readHost(host: string): string {
  const labels = host.replace(/^\*\./, '').split('.');
  const isAddress = isIP(host) !== 0 && !host.includes('%');
  // All digits and dots, and no address: 127.0.0.300.
  const isName = host.length <= 253 && labels.every((label) => LABEL.test(label)) && !/^[\d.]+$/.test(host);
  if (isAddress || isName) return host;
  throw new HookproofError('CERTS_BAD_HOST', `--host ${JSON.stringify(host)} is neither a host name nor an address`, {
    hint: /[^\x00-\x7f]/.test(host)
      ? 'Write the name in ASCII, each part of it that has other characters in its xn-- form.'
      : 'Give the name alone, without scheme, port, path or brackets: --host partner.test, --host 127.0.0.1, --host ::1.',
  });
}

function readDays(text: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= MAX_DAYS) return days;
  throw new HookproofError('CERTS_BAD_DAYS', `--days ${text} is not a whole number from 1 to ${MAX_DAYS}`, {
    hint: `For example --days ${DEFAULT_DAYS}. Some systems refuse certificates that are valid for longer than ${MAX_DAYS} days.`,
  });
}

function readClientName(name: string): string {
  if (name.trim() !== '' && [...name].length <= 64 && !/\p{Cc}/u.test(name)) return name;
  throw new HookproofError('CERTS_BAD_CLIENT_NAME', '--client-cn is empty, too long, or has control characters', {
    hint: 'A common name has 1 to 64 characters: --client-cn "Partner webhooks".',
  });
}

export async function certsCommand(folder: string, flags: CertsFlags): Promise<number> {
  const directory = resolve(folder);
  const options: WorkingSetOptions = {
    directory,
    hosts: [...new Set((flags.host ?? THIS_MACHINE).map(readHost))],
    days: flags.days === undefined ? DEFAULT_DAYS : readDays(flags.days),
    key: flags.key,
    clientName: readClientName(flags.clientCn ?? 'hookproof test client'),
    keepCaKeys: flags.keepCaKeys === true,
  };
  const present = await presentFiles(directory, WORKING_SET_FILES);
  if (present.length > 0 && flags.force !== true) {
    throw new HookproofError('CERTS_EXISTS', `in ${directory} there are already ${present.join(', ')}`, {
      hint: 'Name another folder, or replace the whole set with --force.',
    });
  }
  const set = await makeWorkingSet(options);
  // The key of an authority that is replaced fits nothing any more.
  const names = new Set(set.files.map(({ name }) => name));
  const gone = present.filter((name) => !names.has(name));
  await placeFiles(directory, set.files, gone);
  process.stdout.write(summary(directory, set, gone));
  return 0;
}

/** What was written, and the commands. Never the text of a key. */
function summary(directory: string, { files, guide, validUntil }: WorkingSet, gone: readonly string[]): string {
  return [
    `wrote ${files.length} files to ${directory}, valid until ${validUntil.toISOString()}, never for production:`,
    ...files.map(({ name, secret }) => `  ${name}${secret ? '  (private key)' : ''}`),
    ...gone.map((name) => `removed ${name}, which belonged to the authority before`),
    '',
    ...guide.flatMap(({ title, text, lines }) => [`# ${title}`, `# ${text}`, ...lines, '']),
    `${join(directory, 'README.md')} says what each file is, and holds these lines.`,
    '',
  ].join('\n');
}
