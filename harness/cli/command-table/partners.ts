/** The operator's commands: who may get traffic, and decisions about partners. */
import type { Command } from 'commander';
import {
  type ActionMaker,
  collect,
  type FlagTable,
  OUTPUT_OF_FLEET,
  withFlags,
  withSettings,
} from './shared-options.ts';

const PARTNERS_HELP = `
A certificate counts until it expires, drifts or is revoked, even if a later run reaches no verdict. A later run that
fails suspends it, until the partner is certified again or an operator overrides it.

Examples:
  hookproof partners
  hookproof partners acme
  hookproof partners --expiring 14d
  hookproof revoke acme --reason "leaked key, ticket 4711"

Exit codes:
  0; 1 if the named partner may not get traffic, or if a partner is expiring or has changed; 2 usage error`;

const OPERATE_HELP = `
Start as many workers as you like, on as many machines: they share the queue in the database of the register. The
group "operate" in partners/_defaults.yaml sets the schedule, for example "recheck-every: 1d" and "certify-before: 14d".
SIGTERM stops a worker: runs in progress are completed or returned to the queue.

Examples:
  hookproof operate --partners partners --register postgres://hookproof@db/hookproof --key hookproof-certify.pem
  hookproof operate --register postgres://hookproof@db/hookproof --status

Exit codes:
  0; 1 with --status if a job has failed for good; 2 usage error; 4 internal error`;

const OPERATE_FLAGS: FlagTable = {
  '--partners <folder>': 'folder with one file for each partner, in the format of hookproof.yaml',
  '--register <url>': 'postgres:// URL of the register (or HOOKPROOF_REGISTER; the password in PGPASSWORD)',
  '--key <file>': 'private key that signs certificates (or HOOKPROOF_CERTIFY_KEY)',
  '--passphrase-file <file>': 'file with the passphrase of that key (or HOOKPROOF_CERTIFY_KEY_PASSPHRASE)',
  '-o, --output-dir <folder>': 'folder for reports and certificates (default: hookproof-partners)',
  '--concurrency <n>': 'partners that this worker runs at the same time, 1 to 64 (default: two per CPU, at most 8)',
  '--per-host <n>': 'partners of one host at the same time, across all workers (default: as in _defaults.yaml, or 1)',
  '--valid-for <duration>': ['validity of certificates, 1d to 398d', '90d'],
  '--partner-timeout <duration>': ['time limit for the run of one partner', '10m'],
  '--status': 'print the queue, the workers and the jobs that have failed for good',
  '--retry <id>': 'put a job that has failed for good back into the queue',
  '--json': 'with --status: print JSON',
};

function withRegister(command: Command): Command {
  return command
    .option(
      '--register <place>',
      'folder or postgres:// URL of the register (or HOOKPROOF_REGISTER; default: the output folder)',
    )
    .option('-o, --output-dir <folder>', OUTPUT_OF_FLEET);
}

const KEY = 'public key of the operator (repeatable; default: hookproof-certify.pub.pem)';

export function addPartnerCommands(program: Command, action: ActionMaker): void {
  withRegister(program.command('partners').argument('[name]', 'partner: shows its history'))
    .description('list which partners may get traffic now, until when and on what evidence')
    .option('--key <file>', KEY, collect)
    .option('--expiring <duration>', 'only partners whose certificate expires within this time, for example 12h or 14d')
    .option(
      '--changed [duration]',
      'only partners whose state has changed within this time, for example 12h (default: 1d)',
    )
    .option('--at <time>', 'as of this time, for example 2027-01-31 (default: now)')
    .option(
      '--import <place>',
      'first add the records of another register, for example of a folder, that are missing here',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', PARTNERS_HELP)
    .action(action(async () => (await import('../partners/partners.ts')).partnersCommand));

  withSettings(withFlags(program.command('operate'), OPERATE_FLAGS), 'allow-private')
    .description('certify and recheck partners when they are due, as one of several workers on a PostgreSQL queue')
    .addHelpText('after', OPERATE_HELP)
    .action(action(async () => (await import('../operate/operate.ts')).operateCommand));

  withRegister(program.command('revoke').argument('<name>', 'partner'))
    .description('end the certificate of a partner: it gets no traffic until it is certified again')
    .requiredOption('--reason <text>', 'why, for the history')
    .option('--key <file>', KEY, collect)
    .action(action(async () => (await import('../partners/decisions.ts')).revokeCommand));

  withRegister(program.command('override').argument('<name>', 'partner'))
    .description('reinstate a certificate that a failing run or a drift has suspended')
    .requiredOption('--reason <text>', 'why, for the history')
    .option('--until <duration>', 'how long (default: until the certificate expires)')
    .option('--key <file>', 'private key that signs certificates (or HOOKPROOF_CERTIFY_KEY)')
    .option('--passphrase-file <file>', 'file with the passphrase of that key (or HOOKPROOF_CERTIFY_KEY_PASSPHRASE)')
    .action(action(async () => (await import('../partners/decisions.ts')).overrideCommand));

  addConsoleCommand(program, action);
}

const CONSOLE_HELP = `
It needs the register in PostgreSQL. Without a token file, nothing can be changed. A token file has a name and a token
on each line; the audit shows the name. Reading needs no token on this machine. From elsewhere, it needs one: the name
as the user and the token as the password, or the token as a bearer token.

Examples:
  hookproof console --register postgres://hookproof@localhost/partners
  hookproof console --token-file tokens --signing-key hookproof-certify.pem
  hookproof console --host 0.0.0.0 --tls-cert console.pem --tls-key console.key --token-file tokens`;

function addConsoleCommand(program: Command, action: ActionMaker): void {
  withRegister(program.command('console'))
    .description('serve the register as pages and as a JSON API: who may get traffic, history, causes and workers')
    .option('--key <file>', KEY, collect)
    .option('--port <port>', 'port to listen on; 0 picks a free one', '8790')
    .option(
      '--host <address>',
      'address to listen on; any other than loopback needs TLS or a reverse proxy',
      '127.0.0.1',
    )
    .option('--token-file <file>', 'names and tokens of those who may revoke, override and start runs')
    .option('--signing-key <file>', 'private key that signs certificates, to offer overrides')
    .option('--passphrase-file <file>', 'file with the passphrase of that key (or HOOKPROOF_CERTIFY_KEY_PASSPHRASE)')
    .option('--tls-cert <file>', 'certificate chain of the console, PEM')
    .option('--tls-key <file>', 'private key of that certificate, PEM')
    .option('--public-origin <origin>', 'https origin at which a reverse proxy serves the console')
    .addHelpText('after', CONSOLE_HELP)
    .action(action(async () => (await import('../partners/console.ts')).consoleCommand));
}
