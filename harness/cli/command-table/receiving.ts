/** The commands for the reference receiver and its inbox. */
import type { Command } from 'commander';
import { type ActionMaker, collect, type FlagTable, schemeOption, withFlags } from './shared-options.ts';

const INBOX_LIST_HELP = `
Times are in UTC. --json prints one object per line, without bodies.

Examples:
  hookproof inbox list --inbox file:./inbox.db
  hookproof inbox list --state dead --since 2h
  hookproof inbox list --transaction order-7 --json`;

const INBOX_REPLAY_HELP = `
A replayed entry gets its full number of attempts again: a receiver that runs handlers on this inbox picks it up
within a second, and its handler gets the same idempotency key as before. Entries that are running are left alone. An
outdated order status is marked superseded again, so that no order returns to an earlier status.

Examples:
  hookproof inbox replay 7e57ca5e-0000-4000-8000-000000000001
  hookproof inbox replay --state dead --kind REFUND --yes`;

const INBOX_EXPORT_HELP = `
One JSON object per line, in the order of arrival: "body" is the received bytes in base64, and "json" the parsed body.
The export contains every entry that existed when it began, as it was when it was read; receivers may run meanwhile.

Examples:
  hookproof inbox export --output inbox.ndjson
  hookproof inbox export --state done --since 2026-01-01 | jq .json
  hookproof inbox export | head -1 | jq -r .body | base64 -d`;

const INBOX_PRUNE_HELP = `
Pending, running and dead entries are kept. A repeated notification whose entry was removed counts as new: keep entries
for longer than the sender repeats deliveries. The file does not shrink; its free space is reused.

Example:
  hookproof inbox prune --before 90d`;

/** Adds the option that selects an inbox, for every command that reads one. */
function withInboxOption(command: Command): Command {
  const help = 'file:./inbox.db or postgres://user@host/database (or HOOKPROOF_INBOX; password in PGPASSWORD)';
  return command.option('--inbox <url>', help);
}

const INBOX_FILTERS: FlagTable = {
  '--state <name>': ['only pending, running, done, superseded or dead (repeatable)', collect],
  '--kind <name>': ['only this kind of notification (type and data.type): CAAS_BUY, REFUND, ... (repeatable)', collect],
  '--transaction <id>': 'only this transaction',
  '--since <time>': 'only entries received since this point: a time (2026-01-31T12:00:00Z) or an age (2h, 7d)',
  '--until <time>': 'only entries received before this point: a time or an age',
};

function withInboxFilters(command: Command): Command {
  return withFlags(withInboxOption(command), INBOX_FILTERS);
}

const RECEIVER_HELP = `
Logs are JSON lines on standard output. Ctrl-C or SIGTERM stops the receiver when the deliveries in flight have
finished; a second signal stops it at once. Certificates and secrets are reloaded when their files change, and on
SIGHUP. Secrets are not reloaded with --inspect, or if they come from standard input or HOOKPROOF_SECRET.`;

const DELIVERY_FLAGS: FlagTable = {
  '--fault <name>':
    'run a receiver with this fault, to try hookproof out; never deploy it (`hookproof list --what faults`)',
  '--host <address>': ['address to listen on', '127.0.0.1'],
  '--port <n>': ['port to listen on; 0 chooses a free one', '3000'],
  '--path <path>': 'accept deliveries only at this path',
  '--secret-file <file>': [
    'file with the HMAC secret (or HOOKPROOF_SECRET); repeatable, for rotation; the current one first',
    collect,
  ],
  '--signature-header <name>': 'name of the signature header',
  '--api-key-file <file>': [
    'file with the API key (or HOOKPROOF_API_KEY); repeatable, for rotation; the current one first',
    collect,
  ],
  '--api-key-header <name>': 'name of the API key header',
  '--body-limit <bytes>': 'largest body to accept',
  '--inbox <url>':
    'store accepted deliveries: file:./inbox.db or postgres://user@host/database (or HOOKPROOF_INBOX; password in ' +
    'PGPASSWORD)',
  '--handlers <file>': 'module that exports your handlers by kind: export const handlers = { CAAS_BUY: ... }',
};

const LIMIT_FLAGS: FlagTable = {
  '--max-connections <n>':
    'maximum number of open connections; beyond it, each new connection closes the one that the receiver has ' +
    'waited for longest (default: 1000)',
  '--max-header-bytes <bytes>': 'maximum size of request line and headers together (default: 16384)',
  '--max-headers <n>': 'maximum number of header lines in a request (default: 200)',
  '--max-requests <n>':
    'maximum number of requests without a complete answer, on all connections; beyond it, the connection with the ' +
    'most of them is closed (default: 2000)',
  '--max-pipelined <n>': 'the same on one connection; beyond it, the connection is closed (default: 64)',
  '--max-upload-bytes <bytes>':
    'maximum combined size of the bodies that are still arriving; beyond it, the slowest upload is closed ' +
    '(default: 33554432)',
  '--max-small-chunks <n>':
    'maximum number of chunks below 256 bytes on a connection, not counting those of accepted deliveries; beyond it, ' +
    'the connection is closed (default: 10000)',
  '--header-timeout <duration>': 'time limit for all headers: 500ms, 10s, 1m (default: 10s)',
  '--request-timeout <duration>': 'time limit for the whole request (default: 30s)',
  '--write-timeout <duration>':
    'time limit for the client to read an answer; then the connection is closed (default: 10s)',
  '--drain-timeout <duration>': 'after a signal, time for deliveries in flight to finish (default: 10s)',
};

const PROTECTION_FLAGS: FlagTable = {
  '--tls-cert <file>': 'serve HTTPS with this certificate chain, PEM',
  '--tls-key <file>': 'private key of the server certificate, PEM',
  '--tls-passphrase-file <file>': 'file with the passphrase of that key (or HOOKPROOF_TLS_KEY_PASSPHRASE)',
  '--tls-quick-start': 'serve HTTPS with a temporary certificate for localhost',
  '--tls-quick-start-ca <file>': 'write the CA of that certificate to a file, for clients to trust',
  '--client-ca <file>': 'mutual TLS: CAs to trust for client certificates, PEM',
  '--client-cert-mode <mode>':
    'required: a missing or invalid certificate fails the handshake; optional: the receiver answers 401 (default: ' +
    'required)',
  '--allow-client <name>': [
    'accept only client certificates with this common name, or this host name or IP address as subject alternative ' +
      'name (repeatable)',
    collect,
  ],
  '--proxy <address>': [
    'IP address of a proxy that verifies client certificates in front of the receiver (repeatable)',
    collect,
  ],
  '--proxy-client-header <line>':
    "header that this proxy sets after a successful verification, for example 'X-SSL-Client-Verify: SUCCESS'",
  '--open': 'accept deliveries from anyone: no secret, no API key and no client certificate',
};

const WINDOW_FLAGS: FlagTable = {
  '--inspect [port]': 'serve the inspector page on this port (default: 3001; 0 chooses a free one)',
  '--inspect-host <address>':
    'address to serve the inspector page on; on an address other than loopback, the page opens only with the ' +
    'token that is printed at startup (default: 127.0.0.1)',
  '--admin-port <n>': 'serve /healthz, /readyz and /metrics (Prometheus) on this port; 0 chooses a free one',
  '--admin-host <address>':
    'address for /healthz, /readyz and /metrics; anyone who can connect can read them (default: 127.0.0.1)',
  '--effects <n>':
    'test environments only: serve on this port, at /effects, what was done with each notification; 0 chooses a ' +
    'free one; needs a token',
  '--effects-host <address>': 'address for /effects (default: 127.0.0.1)',
  '--effects-token-file <file>': 'file with the token that /effects requires (or HOOKPROOF_EFFECTS_TOKEN)',
  '--effects-file <file>': 'keep the record behind /effects in this file (default: in memory)',
};

export function addReceivingCommands(program: Command, action: ActionMaker): void {
  withFlags(program.command('receiver'), DELIVERY_FLAGS, LIMIT_FLAGS, PROTECTION_FLAGS, WINDOW_FLAGS)
    .description('start the reference receiver or, with --fault, one with a deliberate fault')
    .addOption(
      schemeOption('receive deliveries that are signed in the scheme of another service, without storing them'),
    )
    .option('--public-url <url>', 'URL of the endpoint, for a scheme that signs it (default: the URL in the request)')
    .addHelpText('after', RECEIVER_HELP)
    .action(action(async () => (await import('../receiver/receiver.ts')).receiverCommand));

  addInboxCommands(program.command('inbox').description('read and manage the inbox of a receiver'), action);
}

function addInboxCommands(inbox: Command, action: ActionMaker): void {
  withInboxFilters(inbox.command('list'))
    .description('list entries with their states, newest first')
    .option('--limit <n>', 'number of entries (default: 50)')
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', INBOX_LIST_HELP)
    .action(action(async () => (await import('../inbox/inbox.ts')).inboxListCommand));

  withInboxOption(inbox.command('show').argument('<id>', 'id of the notification, or its beginning'))
    .description('print one entry in full, with its body')
    .option('--raw', 'print only the body, exactly as received')
    .option('--json', 'print one JSON object, as in an export')
    .action(action(async () => (await import('../inbox/inbox.ts')).inboxShowCommand));

  withInboxFilters(inbox.command('replay').argument('[id...]', 'ids of notifications'))
    .description('handle entries again')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', INBOX_REPLAY_HELP)
    .action(action(async () => (await import('../inbox/inbox.ts')).inboxReplayCommand));

  withInboxFilters(inbox.command('export'))
    .description('write entries with their bodies, as NDJSON')
    .option('--output <file>', 'file to write (default: standard output)')
    .option('--force', 'replace an existing file')
    .addHelpText('after', INBOX_EXPORT_HELP)
    .action(action(async () => (await import('../inbox/inbox.ts')).inboxExportCommand));

  withInboxOption(inbox.command('prune'))
    .description('remove old entries that are done or superseded')
    .requiredOption('--before <time>', 'only entries settled before this point: a time or an age (90d)')
    .option('--yes', 'do not ask for confirmation')
    .addHelpText('after', INBOX_PRUNE_HELP)
    .action(action(async () => (await import('../inbox/inbox.ts')).inboxPruneCommand));
}
