/**
 * Builds the program from its command table, runs it and reports errors. Actions import their modules when they run, so
 * that a command loads only what it needs.
 */
import { Command, CommanderError } from 'commander';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { visible } from '../../contract/visible.ts';
import { version } from '../version.ts';
import { addCertifyingCommands } from './command-table/certifying.ts';
import { addForwardingCommands } from './command-table/forwarding.ts';
import { addOfflineCommands } from './command-table/offline.ts';
import { addPartnerCommands } from './command-table/partners.ts';
import { addReceivingCommands } from './command-table/receiving.ts';
import { addRunningCommands } from './command-table/running.ts';
import type { ActionMaker } from './command-table/shared-options.ts';

const EXIT_CODE_OF = { usage: 2, internal: 4, 'no-verdict': 3 } as const;

/** Runs the program and returns its exit code. Never rejects. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  const misplaced = secretFlag(argv);
  if (misplaced !== undefined) {
    process.stderr.write(describeError(secretOnCommandLine(misplaced)));
    return 2;
  }
  let code = 0;
  const program = createProgram((given) => {
    code = given;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    // Help and version end with exit code 0. Commander has already printed its other errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(describeError(error));
    return error instanceof HookproofError ? EXIT_CODE_OF[error.kind] : 4;
  }
}

/** Builds the program. `finish` receives the exit code of the command that ran. */
export function createProgram(finish: (code: number) => void): Command {
  const action: ActionMaker =
    (load) =>
    async (...given) => {
      const run = await load();
      finish(await run(...(given as never[])));
    };
  const program = new Command('hookproof')
    .description('tests webhook receivers')
    .version(version, '-V, --version', 'print the version')
    .showHelpAfterError('  `hookproof --help` lists the commands.')
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'hookproof: ')) })
    .exitOverride()
    // `certify` and its subcommands both have options: those after a subcommand belong to the subcommand.
    .enablePositionalOptions()
    .configureHelp({ showGlobalOptions: false });

  addRunningCommands(program, action);
  addReceivingCommands(program, action);
  addForwardingCommands(program, action);
  addCertifyingCommands(program, action);
  addPartnerCommands(program, action);
  addOfflineCommands(program, action);
  for (const { name, command } of commandsOf(program)) {
    command.showHelpAfterError(`  \`hookproof ${name} --help\` lists its arguments and options.`);
  }
  return program;
}

/**
 * Returns every runnable command with its full name. A command with subcommands is included only if it takes an
 * argument.
 */
export function commandsOf(program: Command): { readonly name: string; readonly command: Command }[] {
  return program.commands.flatMap((command) => {
    const below = command.commands.map((sub) => ({ name: `${command.name()} ${sub.name()}`, command: sub }));
    const itself = below.length === 0 || command.registeredArguments.length > 0;
    return [...(itself ? [{ name: command.name(), command }] : []), ...below];
  });
}

/** Formats an error for standard error. A message can quote an argument, a file or an endpoint, so it is escaped. */
export function describeError(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const text =
    error instanceof HookproofError
      ? `hookproof: ${error.message}\n  ${error.hint.replaceAll('\n', '\n  ')}\n  (${error.code})\n`
      : `hookproof: internal error, please report it\n${stack}\n`;
  return text.split('\n').map(visible).join('\n');
}

/** Returns the flag with which the user tried to pass a secret as an argument. */
function secretFlag(argv: readonly string[]): string | undefined {
  // `certs --key` takes a type of key; `--key` of the other commands takes a file.
  const keyIsNoSecret = ['certs', 'certify', 'console', 'operate', 'partners', 'revoke', 'override'].includes(
    argv[0] ?? '',
  );
  const words = keyIsNoSecret ? argv.filter((word) => !/^--key(?:=|$)/.test(word)) : argv;
  return words.find((word) => /^--(?:secret|api-key|apikey|key)(?:=|$)/.test(word))?.split('=', 1)[0];
}

function secretOnCommandLine(flag: string): HookproofError {
  return new HookproofError(
    'SECRET_ON_COMMAND_LINE',
    `there is no option \`${flag}\`: other users of this machine can read the command line, so it takes no secrets`,
    { hint: 'Set HOOKPROOF_SECRET or HOOKPROOF_API_KEY, or give a file with `--secret-file` or `--api-key-file`.' },
  );
}
