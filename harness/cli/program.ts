/** The command table. Every action imports what it needs when it runs, so that a command pays only for itself. */
import { Command, CommanderError, Option } from 'commander';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { version } from '../version.ts';
import { describeError } from './describe-error.ts';

/** As `harness/diagnose/stack.ts` has them, which a test holds against this: here nothing is loaded before it is needed. */
export const STACKS = 'express, fastify, django, flask, spring, rails, laravel, go, dotnet';

const REPORTERS = 'human, html, json, junit, ctrf, github, ndjson, badge';

type Action = (...given: never[]) => Promise<number>;

const EXIT_CODES = `
Exit codes:
  0 conformant, 1 failures, 2 usage or configuration error, 3 no verdict, 4 internal error, 130/143 interrupted`;

const ALLOW_PRIVATE =
  'a host that may have a loopback or private address (repeatable); without it only public ones are delivered to';

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** The options that say how an endpoint is reached and with which credentials: the same in every command that sends. */
function withPartnerOptions(command: Command): Command {
  return command
    .option('--config <file>', 'configuration file (default: hookproof.yaml, when there is one)')
    .option(
      '--secret-file <file>',
      'file with the HMAC secret, "-" for standard input (or HOOKPROOF_SECRET); turns HMAC on',
    )
    .option('--signature-header <name>', 'header of the signature (default: X-Service-Signature)')
    .option('--api-key-file <file>', 'file with the API key (or HOOKPROOF_API_KEY); turns the API key on')
    .option('--api-key-header <name>', 'header of the API key (default: X-API-Key)')
    .option('--header <line>', "custom header on every delivery, 'Name: value' (repeatable)", collect)
    .option('--client-cert <file>', 'client certificate, PEM or DER (or HOOKPROOF_CLIENT_CERT)')
    .option('--client-key <file>', 'its private key, PEM or DER (or HOOKPROOF_CLIENT_KEY)')
    .option('--ca <file>', "authorities to trust beside the system's, PEM or DER (or HOOKPROOF_CA)")
    .option('--timeout <duration>', 'for one delivery: 500ms, 10s, 1m (default: 10s)');
}

function withRunOptions(command: Command): Command {
  return command
    .option('--profile <name>', 'features that must be on: basic, staging, production')
    .option('--revision <n>', 'with a profile: the revision of the catalogue that is scored (default: the newest)')
    .option('--suite <name>', 'only this suite (repeatable)', collect)
    .option('--scenario <id>', 'only this scenario (repeatable)', collect)
    .option('--grep <pattern>', 'only what matches in id or title (repeatable)', collect)
    .option('--concurrency <n>', 'deliveries in flight, 1 to 64 (default: 8)')
    .option('--recovery <duration>', 'how long to wait for a receiver that went down (default: 10s)')
    .option('--max-time <duration>', 'end the run after this (default: by the number of checks and --timeout)')
    .option('--seed <text>', 'repeat the values of an earlier run')
    .option('--shard <i/n>', 'run the i-th of n parts')
    .option('--strict', 'warnings fail')
    .option('--baseline <file>', 'known failures, which do not fail the run; `hookproof baseline update` writes it')
    .option('--stack <name>', `tell fixes for this stack: ${STACKS} (default: guessed from the answers)`)
    .option('--bail', 'stop after the first failure')
    .option('--evidence', 'keep the exchanges of passes too')
    .option('--reporter <name[=file]>', `${REPORTERS}; "-" is standard output (repeatable)`, collect)
    .option('-o, --output-dir <folder>', 'write run.json, junit.xml and report.html there');
}

const RUN_EXAMPLES = `
Examples:
  HOOKPROOF_SECRET=... hookproof run https://partner.example/hooks
  hookproof run http://127.0.0.1:3000/hooks --secret-file secret.txt --suite signature --suite raw-body
  hookproof run --config partner.yaml --reporter junit=junit.xml --reporter json=run.json
${EXIT_CODES}`;

const DOCTOR_HELP = `
Without --deliver nothing is delivered: one OPTIONS request without credentials shows that HTTP answers. Without a URL
secrets and certificates alone are looked at.

Examples:
  hookproof doctor https://partner.example/hooks
  hookproof doctor https://partner.example/hooks --client-cert client.pem --client-key client.key --deliver
  hookproof doctor --secret-file secret.txt

Exit codes:
  0 it could look at everything, whatever it found, 2 usage or configuration error, 3 the endpoint was not reached,
  4 internal error, 130/143 interrupted`;

const CERTIFY_HELP = `
The certificate and its evidence go into one folder: hookproof-certificate, or --output-dir. It is refused, with every reason, unless the run
is whole and every scored check is judged and green.

Examples:
  hookproof certify keygen
  hookproof certify https://partner.example/hooks --profile production --key hookproof-certify.pem
  hookproof certify --partners partners --key hookproof-certify.pem
  hookproof certify verify hookproof-certificate/certificate.dsse.json --key hookproof-certify.pub.pem

Exit codes:
  0 certified, 1 the endpoint is in the way, 2 what was asked for or this machine is, 3 no verdict, 4 internal error, 130/143 interrupted`;

const REPORT_HELP = `
A file is taken for hostile: it has to fit the schema of the result document, and to agree with itself. Several files without --merge are
written to standard output, one after another.

Examples:
  hookproof report run.json --reporter html=report.html
  hookproof report --merge shard-*.json --reporter human --reporter json=run.json --reporter junit=junit.xml

Exits as the run did (the worst of several; an interrupted one by what it judged), 0 with --no-exit-code, 2 for a file that is refused.`;

const BASELINE_HELP = `
New entries wait for a person to fill in the reason and the owner, and expire after 90 days. It never runs in CI (CI is set): there, a
new failure has to fail.

Examples:
  hookproof baseline update known.yaml https://partner.example/hooks
  hookproof baseline update known.yaml --run hookproof-run/run.json`;

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

/** Builds the program. `finish` takes the exit code of the command that ran. */
export function createProgram(finish: (code: number) => void): Command {
  const action =
    (load: () => Promise<Action>) =>
    async (...given: unknown[]): Promise<void> => {
      const run = await load();
      finish(await run(...(given as never[])));
    };
  const program = new Command('hookproof')
    .description('proves that a webhook receiver is right')
    .version(version, '-V, --version', 'print the version')
    .showHelpAfterError('(hookproof --help shows the commands)')
    .exitOverride()
    // `certify` has options, and so have the commands below it: what stands after a command's name is its own.
    .enablePositionalOptions()
    .configureHelp({ showGlobalOptions: false });

  withRunOptions(withPartnerOptions(program.command('run').argument('[url]', 'endpoint (or HOOKPROOF_URL)')))
    .option('--dry-run', 'print the plan and one delivery to the byte, and send nothing')
    .option('--json', 'with --dry-run: as JSON')
    .description('run the suites against an endpoint')
    .addHelpText('after', RUN_EXAMPLES)
    .action(action(async () => (await import('./commands/run.ts')).runCommand));

  withRunOptions(program.command('demo'))
    .option('--timeout <duration>', 'for one delivery')
    .description('start the reference receiver and run every suite against it')
    .addHelpText('after', `\nIt needs nothing: secret, key and port are made for the run.\n${EXIT_CODES}`)
    .action(action(async () => (await import('./commands/demo.ts')).demoCommand));

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
    .action(action(async () => (await import('./commands/receiver.ts')).receiverCommand));

  program
    .command('list')
    .description('scenarios, suites, requirements, known faults and error codes')
    .addOption(
      new Option('--what <kind>', 'what to list')
        .choices(['scenarios', 'suites', 'requirements', 'faults', 'error-codes'])
        .default('scenarios'),
    )
    .option('--suite <name>', 'only this suite (repeatable)', collect)
    .option('--json', 'as JSON')
    .option('--schemas', 'the JSON Schemas of notifications, of the result document and of events (ndjson)')
    .action(action(async () => (await import('./commands/list.ts')).listCommand));

  program
    .command('explain')
    .argument('<id>', 'scenario, suite, requirement, known fault, order status or error code')
    .option('--stack <name>', `the fix of a fault for this stack: ${STACKS}`)
    .description('what it means, why it matters, how to mend it')
    .addHelpText(
      'after',
      '\nExamples:\n  hookproof explain signature/missing\n  hookproof explain hmac-raw-body\n  hookproof explain verifies-reserialised-json --stack flask\n  hookproof explain 352-102-S1',
    )
    .action(action(async () => (await import('./commands/explain.ts')).explainCommand));

  withPartnerOptions(
    program
      .command('trigger')
      .argument('<name>', 'notification or flow; `hookproof trigger list` shows them')
      .argument('[url]', 'endpoint'),
  )
    .description('send one notification or one flow through the sender core')
    .option(
      '--set <path=value>',
      'set a field, for example data.metadata.orderStatus=FAILED (repeatable; JSON values, else text)',
      collect,
    )
    .option('--dry-run', 'print the exact request and send nothing')
    .option('--json', 'the attempt records as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  hookproof trigger buy http://127.0.0.1:3000/\n  hookproof trigger failed-external-sell http://127.0.0.1:3000/ --set data.transactionId=order-7',
    )
    .action(action(async () => (await import('./commands/trigger.ts')).triggerCommand));

  program
    .command('sign')
    .argument('[file]', 'file with the body, "-" or nothing for standard input', '-')
    .description('sign a body, offline')
    .option('--secret-file <file>', 'file with the secret (or HOOKPROOF_SECRET)')
    .option('--as <spelling>', 'another spelling, to reproduce a fault; `--as list` shows them', 'base64')
    .addHelpText('after', '\nExample:\n  hookproof sign body.json --secret-file secret.txt')
    .action(action(async () => (await import('./commands/sign.ts')).signCommand));

  program
    .command('verify')
    .argument('[file]', 'file with the body, "-" or nothing for standard input', '-')
    .description('say why a signature does not match, offline')
    .requiredOption('--signature <value>', 'the signature as it came in the header')
    .option('--secret-file <file>', 'file with the secret (or HOOKPROOF_SECRET)')
    .option('--api-key-file <file>', 'file with the API key, to notice when the two were swapped')
    .option('--url <url>', 'the URL of the endpoint, to notice when it was signed too')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExits 0 when it matches and 1 when it does not.\n\nExample:\n  hookproof verify body.json --signature "$HEADER" --secret-file secret.txt',
    )
    .action(action(async () => (await import('./commands/verify.ts')).verifyCommand));

  const certify = withRunOptions(
    withPartnerOptions(program.command('certify').argument('[url]', 'endpoint (or HOOKPROOF_URL)')),
  )
    .description('run a profile against an endpoint, and issue a signed certificate when nothing speaks against it')
    .option('--key <file>', 'private key that signs it (or HOOKPROOF_CERTIFY_KEY); `certify keygen` makes one')
    .option('--passphrase-file <file>', 'passphrase of that key (or HOOKPROOF_CERTIFY_KEY_PASSPHRASE)')
    .option('--valid-for <days>', 'how long it is good, 1d to 398d', '90d')
    .option('--allow-private <host>', ALLOW_PRIVATE, collect)
    .option(
      '--partners <folder>',
      'many partners: one file each, written as hookproof.yaml; --shard is then by partner',
    )
    .option('--only <name>', 'of these, this partner (repeatable)', collect)
    .option('--parallel <n>', 'partners at the same time, 1 to 64 (default: twice the processors, at most 8)')
    .option('--per-host <n>', 'partners at the same time on one host (default: 1)')
    .option('--partner-timeout <duration>', 'for one partner; it then has no verdict (default: 10m)')
    .option('--previous <place>', 'compare with this fleet.json (default: the last one in the output folder)')
    .option('--resume', 'go on with a certification of many that was interrupted')
    .option('--check', 'check the files of all partners and show the plan; sends nothing')
    .option('--json', 'with --partners: a summary as JSON')
    .addHelpText('after', CERTIFY_HELP)
    .enablePositionalOptions()
    .action(action(async () => (await import('./commands/certify.ts')).certifyCommand));
  certify
    .command('keygen')
    .argument('[file]', 'private key to write; the public key goes beside it, as .pub.pem', 'hookproof-certify.pem')
    .description('make the pair of Ed25519 keys that certificates are signed and verified with')
    .option('--passphrase-file <file>', 'encrypt it with this passphrase (or HOOKPROOF_CERTIFY_KEY_PASSPHRASE)')
    .action(action(async () => (await import('./commands/certify-keygen.ts')).certifyKeygenCommand));
  certify
    .command('verify')
    .argument('<file>', 'certificate')
    .description('say whether a certificate is good, offline')
    .requiredOption('--key <file>', 'public key of the issuer (repeatable during a rotation)', collect)
    .option('--result <file>', 'the result document that lies beside it, to be sure that it is the one')
    .option('--url <url>', 'the endpoint that it has to be for')
    .option('--profile <name>', 'the profile that it has to be for')
    .option('--at <time>', 'judge the dates at this time (default: now)')
    .option('--strict', 'a superseded revision refuses too')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExits 0 when it is good, 1 when it is not, 2 when it could not be looked at.\n\nExample:\n  hookproof certify verify certificate.dsse.json --key hookproof-certify.pub.pem --url https://partner.example/hooks',
    )
    .action(action(async () => (await import('./commands/certify-verify.ts')).certifyVerifyCommand));
  certify
    .command('merge')
    .argument('<folders...>', 'what `certify --partners` has written for each shard')
    .description('join the shards of a certification of many partners')
    .requiredOption('-o, --output-dir <folder>', 'where the whole goes; a folder that is not there yet')
    .option('--previous <place>', 'compare with this fleet.json')
    .option('--json', 'a summary as JSON')
    .addHelpText('after', '\nExits as `certify --partners` would have, and with 2 when they do not belong together.')
    .action(action(async () => (await import('./commands/certify-merge.ts')).certifyMergeCommand));
  withPartnerOptions(
    certify
      .command('recheck')
      .argument('<file>', 'certificate')
      .argument('[url]', 'endpoint (default: that of the certificate)'),
  )
    .description('send a short canary to a certified endpoint, and report what has drifted')
    .requiredOption('--key <file>', 'public key of the issuer (repeatable during a rotation)', collect)
    .option('--allow-private <host>', ALLOW_PRIVATE, collect)
    .option('--strict', 'a superseded revision counts as drift')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExits 0 when it is as certified, 1 when it has drifted or the certificate is not good, 3 when that could not be told.',
    )
    .action(action(async () => (await import('./commands/certify-recheck.ts')).certifyRecheckCommand));

  program
    .command('report')
    .argument('<file...>', 'JSON report of a run, "-" for standard input')
    .description('write the reports of a saved run again, or join the shards of one; nothing is sent')
    .option('--merge', 'join the shards of one run (`run --shard i/n`) into one report')
    .option('--reporter <name[=file]>', `${REPORTERS} (repeatable)`, collect)
    .option('-o, --output-dir <folder>', 'write run.json, junit.xml and report.html there')
    .option('--no-exit-code', 'exit 0 whatever the run came to')
    .addHelpText('after', REPORT_HELP)
    .action(action(async () => (await import('./commands/report.ts')).reportCommand));

  withPartnerOptions(program.command('doctor').argument('[url]', 'endpoint (or HOOKPROOF_URL)'))
    .description('look at DNS, connection, TLS, client certificate, secrets and clock; findings with fixes, no verdict')
    .option('--deliver', 'send one valid delivery too')
    .option('--json', 'one JSON document')
    .option('--schema', 'the JSON Schema of that document')
    .addHelpText('after', DOCTOR_HELP)
    .action(action(async () => (await import('./commands/doctor.ts')).doctorCommand));

  program
    .command('certs')
    .argument('<dir>', 'folder to write to; made when it is not there')
    .description('write test certificates for HTTPS and mutual TLS')
    .option('--host <name>', 'host or address of the server certificate (repeatable; default: this machine)', collect)
    .option('--days <n>', 'how long they are valid, 1 to 825 (default: 90)')
    .addOption(new Option('--key <kind>', 'kind of the keys').choices(['p256', 'rsa2048']).default('p256'))
    .option('--client-cn <name>', 'common name of the client certificate (default: hookproof test client)')
    .option('--keep-ca-keys', 'write the keys of the two authorities too')
    .option('--force', 'replace files that are already there')
    .addHelpText(
      'after',
      '\nFor trying things out, never for production. It prints how the files are used.\n\nExamples:\n  hookproof certs certs\n  hookproof certs certs --host partner.test --host 127.0.0.1 --days 90 --key rsa2048',
    )
    .action(action(async () => (await import('./commands/certs.ts')).certsCommand));

  const baseline = program.command('baseline').description('the list of known failures');
  withRunOptions(
    withPartnerOptions(
      baseline
        .command('update')
        .argument('<file>', 'baseline to write, YAML or JSON')
        .argument('[url]', 'endpoint (or HOOKPROOF_URL); not needed with --run'),
    ),
  )
    .option('--run <file>', 'take the failures from this JSON report in place of a new run')
    .description('write the failures of a run as known; reasons, owners and days that are there are kept')
    .addHelpText('after', BASELINE_HELP)
    .action(action(async () => (await import('./commands/baseline.ts')).baselineUpdateCommand));

  const inbox = program.command('inbox').description('what is in the inbox of a receiver');
  withInboxFilters(inbox.command('list'))
    .description('entries with their states, newest first')
    .option('--limit <n>', 'how many (default: 50)')
    .option('--json', 'one JSON object a line')
    .addHelpText('after', INBOX_LIST_HELP)
    .action(action(async () => (await import('./commands/inbox.ts')).inboxListCommand));
  withInboxOption(inbox.command('show').argument('<id>', 'id of the notification, or its beginning'))
    .description('everything of one entry, with its body')
    .option('--raw', 'the bytes of the body alone, as they came')
    .option('--json', 'one JSON object, as in an export')
    .action(action(async () => (await import('./commands/inbox.ts')).inboxShowCommand));
  withInboxFilters(inbox.command('replay').argument('[id...]', 'ids of notifications'))
    .description('have entries handled again')
    .option('--yes', 'do not ask')
    .addHelpText('after', INBOX_REPLAY_HELP)
    .action(action(async () => (await import('./commands/inbox.ts')).inboxReplayCommand));
  withInboxFilters(inbox.command('export'))
    .description('entries with their bodies, as NDJSON')
    .option('--output <file>', 'file to write (default: standard output)')
    .option('--force', 'replace the file when it is already there')
    .addHelpText('after', INBOX_EXPORT_HELP)
    .action(action(async () => (await import('./commands/inbox.ts')).inboxExportCommand));
  withInboxOption(inbox.command('prune'))
    .description('remove what was done or superseded long ago')
    .requiredOption('--before <time>', 'settled before: a time or so long ago (90d)')
    .option('--yes', 'do not ask')
    .addHelpText('after', INBOX_PRUNE_HELP)
    .action(action(async () => (await import('./commands/inbox.ts')).inboxPruneCommand));

  program
    .command('init')
    .argument('[file]', 'file to write (default: hookproof.yaml)')
    .description('write a commented hookproof.yaml')
    .option('--force', 'replace the file when it is already there')
    .action(action(async () => (await import('./commands/init.ts')).initCommand));

  const config = program.command('config').description('show the configuration or its schema');
  withRunOptions(withPartnerOptions(config.command('show').argument('[url]')))
    .description('every setting with its source; secrets are never shown')
    .action(action(async () => (await import('./commands/config.ts')).configShowCommand));
  config
    .command('schema')
    .description('the JSON Schema of hookproof.yaml, for editors')
    .action(action(async () => (await import('./commands/config.ts')).configSchemaCommand));
  return program;
}

/** Every command that can be run, with its whole name: those below another one, and one above others when it takes an argument itself. */
export function commandsOf(program: Command): { readonly name: string; readonly command: Command }[] {
  return program.commands.flatMap((command) => {
    const below = command.commands.map((sub) => ({ name: `${command.name()} ${sub.name()}`, command: sub }));
    const itself = below.length === 0 || command.registeredArguments.length > 0;
    return [...(itself ? [{ name: command.name(), command }] : []), ...below];
  });
}

/** Runs the program and gives the exit code. Nothing it meets is thrown further. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let code = 0;
  // The kind of key to make is no key, and that of `certify` is the name of a file.
  const words =
    argv[0] === 'certs' || argv[0] === 'certify' ? argv.filter((word) => !/^--key(?:=|$)/.test(word)) : argv;
  const misplaced = words.find((word) => /^--(?:secret|api-key|apikey|key)(?:=|$)/.test(word));
  if (misplaced !== undefined) {
    const flag = misplaced.replace(/=.*$/s, '');
    process.stderr.write(
      describeError(
        new HookproofError(
          'SECRET_ON_COMMAND_LINE',
          `there is no option ${flag}: secrets never stand on the command line, where every user of the machine can read them`,
          { hint: 'Set HOOKPROOF_SECRET or HOOKPROOF_API_KEY, or name a file with --secret-file or --api-key-file.' },
        ),
      ),
    );
    return 2;
  }
  const program = createProgram((given) => {
    code = given;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    // Help and version are no errors; commander has already said what is wrong with everything else.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(describeError(error));
    return error instanceof HookproofError && error.kind === 'usage' ? 2 : 4;
  }
}
