/** The commands that send nothing: look-ups, signing and verifying by hand, starter files. */
import { Argument, type Command, Option } from 'commander';
import { SCHEME_RECIPES, STACKS } from '../../../contract/stacks.ts';
import { type ActionMaker, collect, schemeOption, withRun } from './shared-options.ts';

const EXPLAIN_HELP = `
Examples:
  hookproof explain signature/missing
  hookproof explain hmac-raw-body
  hookproof explain reserialised-body --stack flask
  hookproof explain 352-102-S1`;

const VERIFY_HELP = `
Exits 0 if the signature matches, and 1 if it does not or the file is a printed form of a notification.

Examples:
  hookproof verify body.json --signature "$HEADER" --secret-file secret.txt
  hookproof verify body.json --scheme github --header "X-Hub-Signature-256: $HEADER" --secret-file secret.txt`;

const COMPLETION_HELP = `
Completes commands, flags, names of checks, suites, faults, stacks, reporters and notifications, and files.

bash, in ~/.bashrc:
  source <(hookproof completion bash)
zsh, in ~/.zshrc after compinit:
  source <(hookproof completion zsh)
fish, once:
  hookproof completion fish > ~/.config/fish/completions/hookproof.fish`;

const CERTS_HELP = `
For tests, never for production. The command prints how to use the files.

Examples:
  hookproof certs certs
  hookproof certs certs --host partner.test --host 127.0.0.1 --days 90 --key rsa2048`;

const SIGN_HELP = `
Send the file with --data-binary: --data removes line breaks, so the signature no longer matches.

Examples:
  hookproof sign body.json --secret-file secret.txt
  hookproof sign body.json --secret-file secret.txt --scheme standard-webhooks
  curl --header "$(hookproof sign body.json --header-line)" --header 'Content-Type: application/json' \\
    --data-binary @body.json http://127.0.0.1:3000/`;

export function addOfflineCommands(program: Command, action: ActionMaker): void {
  addLookUpCommands(program, action);
  addSigningCommands(program, action);
  addFileCommands(program, action);
}

function addLookUpCommands(program: Command, action: ActionMaker): void {
  program
    .command('list')
    .description('list checks (scenarios), suites, requirements, mistakes, known faults and error codes')
    .addOption(
      new Option('--what <kind>', 'what to list')
        .choices(['scenarios', 'suites', 'requirements', 'mistakes', 'faults', 'schemes', 'error-codes'])
        .default('scenarios'),
    )
    .option('--suite <name>', 'only this suite (repeatable)', collect)
    .option('--json', 'print JSON')
    .option(
      '--schemas',
      'print the JSON Schemas of notifications, JSON reports, events (ndjson), comparisons and effects',
    )
    .option('--openapi', 'print the contract as an OpenAPI 3.1 document')
    .option('--asyncapi', 'print the contract as an AsyncAPI 3 document')
    .action(action(async () => (await import('../commands/list.ts')).listCommand));

  program
    .command('explain')
    .argument('<id>', 'scenario, suite, requirement, mistake, known fault, order status or error code')
    .option('--stack <name>', `show the fix for a fault in this stack: ${STACKS.join(', ')}`)
    .description('explain what an item means, why it matters and how to fix it')
    .addHelpText('after', EXPLAIN_HELP)
    .action(action(async () => (await import('../commands/explain.ts')).explainCommand));
}

function addSigningCommands(program: Command, action: ActionMaker): void {
  program
    .command('sign')
    .argument('[file]', 'file with the body, "-" for standard input', '-')
    .description('sign a body, offline')
    .option('--secret-file <file>', 'file with the secret (or HOOKPROOF_SECRET)')
    .option('--as <encoding>', 'sign with this fault or encoding; `--as list` lists them', 'base64')
    .option('--header-line [name]', 'print the whole header line, for `curl --header` (default: X-Service-Signature)')
    .addOption(schemeOption('print the headers of a delivery in the scheme of another service'))
    .option('--id <id>', 'message id, with --scheme (default: derived from the body)')
    .option('--timestamp <seconds>', 'time of the message in seconds since 1970, with --scheme (default: now)')
    .option('--url <url>', 'URL of the endpoint, for a scheme that signs it')
    .addHelpText('after', SIGN_HELP)
    .action(action(async () => (await import('../commands/sign.ts')).signCommand));

  program
    .command('verify')
    .argument('[file]', 'file with the body, "-" for standard input', '-')
    .description('explain why a signature does not match, offline')
    .option('--signature <value>', 'the signature, as received in the header')
    .addOption(schemeOption('verify a delivery in the scheme of another service'))
    .option('--header <line>', "received header, 'Name: value', with --scheme (repeatable)", collect)
    .option('--secret-file <file>', 'file with the secret (or HOOKPROOF_SECRET)')
    .option('--api-key-file <file>', 'file with the API key, to detect whether it was used instead of the secret')
    .option('--url <url>', 'URL of the endpoint, to detect whether the URL was signed together with the body')
    .option('--json', 'print JSON')
    .addHelpText('after', VERIFY_HELP)
    .action(action(async () => (await import('../commands/verify.ts')).verifyCommand));
}

/** Adds the commands that write certificates, configurations, receivers and scripts. */
function addFileCommands(program: Command, action: ActionMaker): void {
  program
    .command('certs')
    .argument('<folder>', 'folder to write to; it is created if it does not exist')
    .description('write test certificates for HTTPS and mutual TLS')
    .option(
      '--host <name>',
      'host name or IP address to put in the server certificate (repeatable; default: the names of this machine)',
      collect,
    )
    .option('--days <n>', 'validity in days, 1 to 825 (default: 90)')
    .addOption(new Option('--key <kind>', 'type of the keys').choices(['p256', 'rsa2048']).default('p256'))
    .option('--client-cn <name>', 'common name of the client certificate (default: hookproof test client)')
    .option('--keep-ca-keys', 'also write the private keys of the server CA and the client CA')
    .option('--force', 'replace existing files')
    .addHelpText('after', CERTS_HELP)
    .action(action(async () => (await import('../commands/certs.ts')).certsCommand));

  program
    .command('init')
    .argument('[file]', 'file to write (default: hookproof.yaml); with --stack, a folder (default: this one)')
    .description('write a commented hookproof.yaml, and a receiver to start from')
    .option('--stack <name>', `write a receiver for this stack too (\`list\` lists them): ${STACKS.join(', ')}`)
    .addOption(
      new Option('--scheme <name>', 'with --stack, a receiver for a sender of this scheme').choices(
        Object.keys(SCHEME_RECIPES),
      ),
    )
    .option('--force', 'replace existing files')
    .action(action(async () => (await import('../commands/init.ts')).initCommand));

  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .description('print a script that completes commands, flags and their values in a shell')
    .addHelpText('after', COMPLETION_HELP)
    .action(action(async () => (await import('../commands/completion.ts')).completionCommand));

  const config = program.command('config').description('print the configuration or its schema');

  withRun(config.command('show').argument('[url]'))
    .description('print every setting with its source; secrets are never shown')
    .action(action(async () => (await import('../commands/config.ts')).configShowCommand));

  config
    .command('schema')
    .description('print the JSON Schema of hookproof.yaml, for editors')
    .action(action(async () => (await import('../commands/config.ts')).configSchemaCommand));
}
