/** The commands that send, and those that read the results of a run. */
import { type Command, InvalidArgumentError } from 'commander';
import {
  type ActionMaker,
  collect,
  EXIT_CODES,
  type FlagTable,
  SET_HELP,
  withEndpoint,
  withFlags,
  withOpen,
  withRun,
  withSettings,
  withYes,
} from './shared-options.ts';

const RUN_EXAMPLES = `
Examples:
  HOOKPROOF_SECRET=... hookproof run https://partner.example/hooks
  hookproof run http://127.0.0.1:3000/hooks --secret-file secret.txt --suite signature --suite raw-body
  hookproof run --config partner.yaml --reporter junit=junit.xml --reporter json=run.json
  hookproof run http://127.0.0.1:3000/hooks --failed
  hookproof run http://127.0.0.1:3000/hooks --watch src
${EXIT_CODES}`;

const DOCTOR_HELP = `
Without --deliver, no notification is sent: one OPTIONS request without credentials shows whether the endpoint answers
over HTTP. Without a URL, only secrets and certificates are examined.

Examples:
  hookproof doctor https://partner.example/hooks
  hookproof doctor https://partner.example/hooks --client-cert client.pem --client-key client.key --deliver
  hookproof doctor --secret-file secret.txt

Exit codes:
  0 no problem; 1 at least one problem or, with --strict, advice; 2 usage or configuration error; 3 the endpoint was not
  reached; 4 internal error; 130/143 interrupted`;

const REPORT_HELP = `
Files are not trusted: each must match the JSON Schema of a report and be internally consistent. Without --merge, the
reports of several files are written to standard output, one after another.

Examples:
  hookproof report run.json --reporter html=report.html
  hookproof report --merge shard-*.json --reporter human --reporter json=run.json --reporter junit=junit.xml
  hookproof report --compare before/run.json after/run.json --reporter html=comparison.html

Exits with the code of the run; for several runs, with the worst; for an interrupted run, with the code for the checks
it completed. Exits 0 with --no-exit-code, and 2 if a file is rejected.

With --compare, the files are the old run and the new one, or folders with a run.json, and the reporters are human, html
and json. Exits 0 if nothing new fails, 1 if a check fails that did not fail before, and 2 if a file is rejected.
Warnings count if the new run is strict; failures in its baseline do not.`;

const BASELINE_HELP = `
New entries expire after 90 days. Fill in their reason and owner, or pass --reason and --owner for all of them, now or
later: only placeholders are replaced. This command does not run in CI (when the variable CI is set): there, a new
failure must fail the build.

Examples:
  hookproof baseline update known.yaml https://partner.example/hooks
  hookproof baseline update known.yaml --run hookproof-run/run.json --reason 'Fixed in release 8' --owner payments`;

const TRIGGER_HELP = `
Examples:
  hookproof trigger buy http://127.0.0.1:3000/
  hookproof trigger failed-external-sell http://127.0.0.1:3000/ --set data.transactionId=order-7
  hookproof trigger --body body.json http://127.0.0.1:3000/`;

const MCP_HELP = `
For coding agents that fix a receiver. It is registered in the configuration of the agent, as the command "hookproof"
with the argument "mcp", and ends when its standard input is closed. Tools: run, run_failed, details, explain, verify,
list, doctor. Secrets come from the environment of the server or the configuration of the folder that it starts in; no
tool accepts any. A run ends after 2m, unless --max-time or the configuration says otherwise.

Examples:
  HOOKPROOF_SECRET=... hookproof mcp
  hookproof mcp --config partner.yaml --allow-host staging.partner.example`;

export function addRunningCommands(program: Command, action: ActionMaker): void {
  addSendingCommands(program, action);
  addReportCommand(program, action);
  addAssistingCommands(program, action);
  addBaselineCommand(program.command('baseline'), action);
}

const RUN_FLAGS: FlagTable = {
  '--verbose': 'print every finding in full',
  '--failed': 'run only the selected checks that failed last time',
  '--watch [path...]':
    'after the run, repeat the failed checks when a file changes and the endpoint has restarted (default: .)',
  '--settle <duration>':
    'with --watch: how long to wait for a restart after a change (default: 2s; 5s once a restart has been seen)',
  '--dry-run': 'print the plan and the exact bytes of one delivery; send nothing',
  '--json': 'with --dry-run: print JSON',
};

function addSendingCommands(program: Command, action: ActionMaker): void {
  const run = program.command('run').argument('[url]', 'endpoint (or HOOKPROOF_URL)');
  withFlags(withOpen(withYes(withRun(run))), RUN_FLAGS)
    .description('run the suites against an endpoint')
    .addHelpText('after', RUN_EXAMPLES)
    .action(action(async () => (await import('../commands/run.ts')).runCommand));

  withSettings(program.command('demo'), 'timeout', 'run')
    .description('start the reference receiver and run every suite against it')
    .addHelpText('after', `\nSecret, key and port are generated for this run.\n${EXIT_CODES}`)
    .action(action(async () => (await import('../commands/demo.ts')).demoCommand));

  const trigger = program
    .command('trigger')
    .argument('[name]', 'notification or flow; `hookproof trigger list` lists them')
    .argument('[url]', 'endpoint');
  withYes(withEndpoint(trigger))
    .description('send one notification, or a sequence of them (a flow), as the real sender does')
    .option('--body <file>', 'send the bytes of this file instead, signed; "-" for standard input')
    .option('--set <path=value>', SET_HELP, collect)
    .option('--dry-run', 'print the exact request; send nothing')
    .option('--json', 'print the delivery attempts as JSON')
    .addHelpText('after', TRIGGER_HELP)
    .action(action(async () => (await import('../commands/trigger.ts')).triggerCommand));
}

function addReportCommand(program: Command, action: ActionMaker): void {
  const report = program.command('report').argument('<file...>', 'JSON report of a run, "-" for standard input');
  withSettings(report, 'reporters', 'output-dir')
    .description('render the reports of a saved run, join its shards, or compare two runs; send nothing')
    .option('--merge', 'join the shards of one run (`run --shard i/n`) into one report')
    .option('--compare', 'compare two runs, OLD and NEW: what is new, fixed or still failing, and the causes')
    .option('--json', 'with --compare: print JSON')
    .option('--no-exit-code', 'exit 0 whatever the result of the run')
    .option('--verbose', 'print every finding in full')
    .addHelpText('after', REPORT_HELP)
    .action(action(async () => (await import('../commands/report.ts')).reportCommand));
}

/** Adds the commands that help to fix a receiver. */
function addAssistingCommands(program: Command, action: ActionMaker): void {
  const description =
    'check DNS, connection, TLS, client certificate, secrets and clock; report problems and fixes, without ' +
    'pass or fail';
  withEndpoint(program.command('doctor').argument('[url]', 'endpoint (or HOOKPROOF_URL)'))
    .description(description)
    .option('--deliver', 'also send one valid delivery')
    .option('--strict', 'also exit 1 if there is advice')
    .option('--json', 'print one JSON document')
    .option('--schema', 'print the JSON Schema of that document')
    .addHelpText('after', DOCTOR_HELP)
    .action(action(async () => (await import('../commands/doctor.ts')).doctorCommand));

  const allowHost =
    'a host that may have a public or private address; only addresses of this machine are allowed otherwise ' +
    '(repeatable)';
  withSettings(program.command('mcp'), 'max-time')
    .description('serve the Model Context Protocol, so that a coding agent can run and explain the checks')
    .option('--config <file>', 'configuration file (default: hookproof.yaml, if it exists)')
    .option('--allow-host <host>', allowHost, collect)
    .addHelpText('after', MCP_HELP)
    .action(action(async () => (await import('../commands/mcp.ts')).mcpCommand));
}

function filled(value: string): string {
  if (value.trim() === '') throw new InvalidArgumentError('It is empty.');
  return value.trim();
}

function addBaselineCommand(baseline: Command, action: ActionMaker): void {
  const update = baseline
    .description('manage the list of known failures')
    .command('update')
    .argument('<file>', 'baseline to write, YAML or JSON')
    .argument('[url]', 'endpoint (or HOOKPROOF_URL); not needed with --run');
  withOpen(withYes(withRun(update)))
    .option('--run <file>', 'take the failures from this JSON report instead of a new run')
    .option('--reason <text>', 'why failures without a reason are accepted for now', filled)
    .option('--owner <name>', 'who fixes the failures without an owner', filled)
    .description('record the failures of a run in a baseline; existing reasons, owners and expiry dates are kept')
    .addHelpText('after', BASELINE_HELP)
    .action(action(async () => (await import('../commands/baseline.ts')).baselineUpdateCommand));
}
