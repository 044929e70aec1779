/** The commands that send, and those that work with what a run has left. */
import type { Command } from 'commander';
import { type ActionMaker, collect, EXIT_CODES, withEndpoint, withRun, withSettings } from './shared-options.ts';

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

export function addRunningCommands(program: Command, action: ActionMaker): void {
  withRun(program.command('run').argument('[url]', 'endpoint (or HOOKPROOF_URL)'))
    .option('--dry-run', 'print the plan and one delivery to the byte, and send nothing')
    .option('--json', 'with --dry-run: as JSON')
    .description('run the suites against an endpoint')
    .addHelpText('after', RUN_EXAMPLES)
    .action(action(async () => (await import('../commands/run.ts')).runCommand));

  withSettings(program.command('demo'), 'timeout', 'run')
    .description('start the reference receiver and run every suite against it')
    .addHelpText('after', `\nIt needs nothing: secret, key and port are made for the run.\n${EXIT_CODES}`)
    .action(action(async () => (await import('../commands/demo.ts')).demoCommand));

  withEndpoint(
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
    .action(action(async () => (await import('../commands/trigger.ts')).triggerCommand));

  withSettings(
    program.command('report').argument('<file...>', 'JSON report of a run, "-" for standard input'),
    'reporters',
    'output-dir',
  )
    .description('write the reports of a saved run again, or join the shards of one; nothing is sent')
    .option('--merge', 'join the shards of one run (`run --shard i/n`) into one report')
    .option('--no-exit-code', 'exit 0 whatever the run came to')
    .addHelpText('after', REPORT_HELP)
    .action(action(async () => (await import('../commands/report.ts')).reportCommand));

  withEndpoint(program.command('doctor').argument('[url]', 'endpoint (or HOOKPROOF_URL)'))
    .description('look at DNS, connection, TLS, client certificate, secrets and clock; findings with fixes, no verdict')
    .option('--deliver', 'send one valid delivery too')
    .option('--json', 'one JSON document')
    .option('--schema', 'the JSON Schema of that document')
    .addHelpText('after', DOCTOR_HELP)
    .action(action(async () => (await import('../commands/doctor.ts')).doctorCommand));

  const baseline = program.command('baseline').description('the list of known failures');

  withRun(
    baseline
      .command('update')
      .argument('<file>', 'baseline to write, YAML or JSON')
      .argument('[url]', 'endpoint (or HOOKPROOF_URL); not needed with --run'),
  )
    .option('--run <file>', 'take the failures from this JSON report in place of a new run')
    .description('write the failures of a run as known; reasons, owners and days that are there are kept')
    .addHelpText('after', BASELINE_HELP)
    .action(action(async () => (await import('../commands/baseline.ts')).baselineUpdateCommand));
}
