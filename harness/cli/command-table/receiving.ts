/** The reference receiver, and its inbox. */
import type { Command } from 'commander';
import { type ActionMaker, collect } from './shared-options.ts';

const INBOX_LIST_HELP = `
Times are in UTC. --json gives one object a line, without bodies.

Examples:
  hookproof inbox list --inbox file:./inbox.db
  hookproof inbox list --state dead --since 2h
  hookproof inbox list --transaction order-7 --json`;

const INBOX_REPLAY_HELP = `
An entry that is replayed is due at once and has all its attempts before it; a receiver with handlers that runs on the inbox takes it within a
second. Its handler gets the same idempotency key as before. What is running is left alone. An order status that its order has left behind is
superseded again: no order moves backwards.

Examples:
  hookproof inbox replay 7e57ca5e-0000-4000-8000-000000000001
  hookproof inbox replay --state dead --kind REFUND --yes`;

const INBOX_EXPORT_HELP = `
One JSON object a line, in the order of arrival: "body" is the bytes as they came, in base64, and "json" what they say. It holds everything that
was in the inbox when it began, each entry as it was when it was read; receivers go on meanwhile.

Examples:
  hookproof inbox export --output inbox.ndjson
  hookproof inbox export --state done --since 2026-01-01 | jq .json
  hookproof inbox export | head -1 | jq -r .body | base64 -d`;

const INBOX_PRUNE_HELP = `
What is pending, running or dead stays. A copy of a notification that was removed counts as new: keep entries for longer than the sender repeats
itself. The file does not become smaller, its room is used again.

Example:
  hookproof inbox prune --before 90d`;

/** Which inbox, in every command that looks into one. */
function withInboxOption(command: Command): Command {
  return command.option(
    '--inbox <url>',
    'file:./inbox.db or postgres://user@host/database (or HOOKPROOF_INBOX; the password in PGPASSWORD)',
  );
}

function withInboxFilters(command: Command): Command {
  return withInboxOption(command)
    .option('--state <name>', 'only pending, running, done, superseded or dead (repeatable)', collect)
    .option('--kind <name>', 'only this kind of notification: CAAS_BUY, REFUND, ... (repeatable)', collect)
    .option('--transaction <id>', 'only of this transaction')
    .option('--since <time>', 'only received since: a time (2026-01-31T12:00:00Z) or so long ago (2h, 7d)')
    .option('--until <time>', 'only received before: a time or so long ago');
}

export function addReceivingCommands(program: Command, action: ActionMaker): void {
  program
    .command('receiver')
    .description('serve the reference receiver, or with --fault one that makes a known mistake')
    .option(
      '--fault <name>',
      'make this mistake, to try a harness out; never deploy it (`hookproof list --what faults`)',
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 takes a free one', '3000')
    .option('--path <path>', 'take deliveries only at this path')
    .option(
      '--secret-file <file>',
      'file with the HMAC secret (or HOOKPROOF_SECRET); repeatable during a rotation, the current one first',
      collect,
    )
    .option('--signature-header <name>', 'header of the signature')
    .option(
      '--api-key-file <file>',
      'file with the API key (or HOOKPROOF_API_KEY); repeatable during a rotation, the current one first',
      collect,
    )
    .option('--api-key-header <name>', 'header of the API key')
    .option('--body-limit <bytes>', 'largest body that is taken')
    .option(
      '--inbox <url>',
      'keep what is accepted: file:./inbox.db or postgres://user@host/database (or HOOKPROOF_INBOX; the password in PGPASSWORD)',
    )
    .option('--handlers <file>', 'module that exports your handlers by kind: export const handlers = { CAAS_BUY: ... }')
    .option(
      '--max-connections <n>',
      'connections at the same time; for one more, that which has kept it waiting longest for a request is closed (default: 1000)',
    )
    .option('--max-header-bytes <bytes>', 'request line and headers together (default: 16384)')
    .option('--max-headers <n>', 'header lines of a request (default: 200)')
    .option('--header-timeout <duration>', 'until all headers are there: 500ms, 10s, 1m (default: 10s)')
    .option('--request-timeout <duration>', 'until the whole request is there (default: 30s)')
    .option('--drain-timeout <duration>', 'after a signal, until what is under way is cut (default: 10s)')
    .option('--tls-cert <file>', 'serve HTTPS with this certificate chain, PEM')
    .option('--tls-key <file>', 'its private key, PEM')
    .option('--tls-passphrase-file <file>', 'passphrase of that key (or HOOKPROOF_TLS_KEY_PASSPHRASE)')
    .option('--tls-quick-start', 'serve HTTPS with a throw-away certificate for localhost')
    .option('--tls-quick-start-ca <file>', 'write the authority of that certificate to a file, for clients to trust')
    .option('--client-ca <file>', 'mutual TLS: authorities that issue client certificates, PEM')
    .option(
      '--client-cert-mode <mode>',
      'required: the handshake refuses; optional: it lets everyone in, and a missing or wrong certificate is answered 401 (default: required)',
    )
    .option('--allow-client <name>', 'only certificates with this common or alternative name (repeatable)', collect)
    .option('--proxy <address>', 'a proxy in front verifies client certificates: its IP address (repeatable)', collect)
    .option('--proxy-client-header <line>', "what it then sets, for example 'X-SSL-Client-Verify: SUCCESS'")
    .option('--open', 'run with neither secret nor key')
    .option('--inspect [port]', 'serve the inspector page at this port of its own (default: 3001; 0 takes a free one)')
    .option(
      '--inspect-host <address>',
      'address of the inspector page; any but a loopback address needs the token in its URL (default: 127.0.0.1)',
    )
    .option('--admin-port <n>', 'serve /healthz, /readyz and /metrics (Prometheus) on this port; 0 takes a free one')
    .option('--admin-host <address>', 'address for these; who reaches it can read them (default: 127.0.0.1)')
    .addHelpText(
      'after',
      '\nLogs are JSON lines on standard output. Ctrl-C or SIGTERM stops it after the deliveries in flight, a second one at once.\nCertificates are taken into use again when their files change, and at SIGHUP.',
    )
    .action(action(async () => (await import('../receiver/receiver.ts')).receiverCommand));

  const inbox = program.command('inbox').description('what is in the inbox of a receiver');

  withInboxFilters(inbox.command('list'))
    .description('entries with their states, newest first')
    .option('--limit <n>', 'how many (default: 50)')
    .option('--json', 'one JSON object a line')
    .addHelpText('after', INBOX_LIST_HELP)
    .action(action(async () => (await import('../inbox/inbox.ts')).inboxListCommand));

  withInboxOption(inbox.command('show').argument('<id>', 'id of the notification, or its beginning'))
    .description('everything of one entry, with its body')
    .option('--raw', 'the bytes of the body alone, as they came')
    .option('--json', 'one JSON object, as in an export')
    .action(action(async () => (await import('../inbox/inbox.ts')).inboxShowCommand));

  withInboxFilters(inbox.command('replay').argument('[id...]', 'ids of notifications'))
    .description('have entries handled again')
    .option('--yes', 'do not ask')
    .addHelpText('after', INBOX_REPLAY_HELP)
    .action(action(async () => (await import('../inbox/inbox.ts')).inboxReplayCommand));

  withInboxFilters(inbox.command('export'))
    .description('entries with their bodies, as NDJSON')
    .option('--output <file>', 'file to write (default: standard output)')
    .option('--force', 'replace the file when it is already there')
    .addHelpText('after', INBOX_EXPORT_HELP)
    .action(action(async () => (await import('../inbox/inbox.ts')).inboxExportCommand));

  withInboxOption(inbox.command('prune'))
    .description('remove what was done or superseded long ago')
    .requiredOption('--before <time>', 'settled before: a time or so long ago (90d)')
    .option('--yes', 'do not ask')
    .addHelpText('after', INBOX_PRUNE_HELP)
    .action(action(async () => (await import('../inbox/inbox.ts')).inboxPruneCommand));
}
