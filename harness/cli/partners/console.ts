/** `hookproof console`: serves the register as web pages and as an API, for people and for onboarding systems. */
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { isLoopback } from '../../../contract/hosts.ts';
import { visible } from '../../../contract/visible.ts';
import { CURRENT_REVISION } from '../../certify/index.ts';
import { type ConsoleQueue, openConsole, Tokens } from '../../console/index.ts';
import { addJobs } from '../../operate/index.ts';
import { readNamed } from '../certify/certify-files.ts';
import { signingKey } from '../certify/signing-key.ts';
import { NO_HOST, partnerJob } from '../operate/partner-job.ts';
import { portOf } from '../receiver/receiver-limits.ts';
import { readSavedRun } from '../saved-run.ts';
import { firstStopSignal } from '../stop-signals.ts';
import { databaseUrl, FLEET_FOLDER, publicKeys } from './register-input.ts';

export interface ConsoleFlags {
  readonly register?: string;
  readonly outputDir?: string;
  readonly key?: readonly string[];
  readonly signingKey?: string;
  readonly passphraseFile?: string;
  readonly tokenFile?: string;
  readonly host: string;
  readonly port: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly publicOrigin?: string;
}

const BAD_PORT = { code: 'CONSOLE_BAD_NUMBER', hint: 'Write digits only.' };
const MAX_FILE_BYTES = 1024 * 1024;

/** Adds the runs that the console starts to the planner's queue, one run per host at a time. */
const QUEUE: ConsoleQueue = {
  async runAt(client, { host, partner }, at) {
    const payload = { partner, due: at.toISOString(), attempt: 0 };
    await addJobs(client, [{ ...partnerJob(payload, host ?? NO_HOST, 1), runAt: at }]);
  },
};

/** Serves until a signal arrives. Returns the exit code. */
export async function consoleCommand(flags: ConsoleFlags): Promise<number> {
  const { host, passphraseFile, signingKey: keyFile } = flags;
  const database = databaseUrl(flags.register);
  const port = portOf('--port', flags.port, BAD_PORT);
  const publicOrigin = originOf(flags.publicOrigin);
  const tls = await tlsOf(flags);
  const tokens = await tokensOf(flags.tokenFile);
  const isLocal = isLoopback(host) && publicOrigin === undefined;
  if (!isLoopback(host) && tls === undefined && publicOrigin === undefined) {
    throw refused('CONSOLE_PUBLIC', `${host} is not a loopback address, and the console would be sent in plain text`, {
      hint: 'Give `--tls-cert` and `--tls-key`, or `--public-origin` for the reverse proxy that encrypts.',
    });
  }
  if (!isLocal && tokens.isEmpty) {
    throw refused('CONSOLE_NO_TOKENS', 'a console that others can reach needs tokens, even for reading', {
      hint: 'Give a file with `--token-file`: a name and a token on each line.',
    });
  }
  const key =
    keyFile === undefined ? undefined : await signingKey({ key: keyFile, ...(passphraseFile && { passphraseFile }) });
  const stopped = firstStopSignal();
  const running = await openConsole({
    database,
    keys: await publicKeys(flags.key),
    currentRevision: CURRENT_REVISION,
    host,
    port,
    tokens,
    tls,
    publicOrigin,
    signingKey: key,
    outputDir: flags.outputDir ?? FLEET_FOLDER,
    readRun: readSavedRun,
    queue: QUEUE,
    onError: (error) =>
      process.stderr.write(`console: ${visible(error instanceof Error ? error.message : String(error))}\n`),
  });
  process.stderr.write(`console at ${running.url}${tokens.isEmpty ? ' (read-only)' : ''}\n`);
  await stopped;
  await running.close();
  return 0;
}

function originOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && url.protocol === 'https:' && url.href === `${url.origin}/`) return url.origin;
  throw refused('CONSOLE_ORIGIN', 'the value of `--public-origin` is not an https origin', {
    hint: 'For example `--public-origin https://console.example`.',
  });
}

async function tlsOf({ tlsCert, tlsKey }: ConsoleFlags): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw refused('CONSOLE_TLS', '`--tls-cert` and `--tls-key` belong together', { hint: 'Give both, or neither.' });
  }
  const [cert, key] = await Promise.all([
    readNamed(tlsCert, '--tls-cert: the file', MAX_FILE_BYTES),
    readNamed(tlsKey, '--tls-key: the file', MAX_FILE_BYTES),
  ]);
  return { cert, key };
}

async function tokensOf(file: string | undefined): Promise<Tokens> {
  if (file === undefined) return Tokens.none;
  return Tokens.read((await readNamed(file, '--token-file: the file', MAX_FILE_BYTES)).toString());
}

function refused(code: string, message: string, options: { hint: string }): HookproofError {
  return new HookproofError(code, message, options);
}
