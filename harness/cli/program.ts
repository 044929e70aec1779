/** The program: its commands, which stand in `command-table/`, and how it ends. Every action imports what it needs when it runs, so that a command pays only for itself. */
import { Command, CommanderError } from 'commander';
import { HookproofError } from '../../contract/hookproof-error.ts';
import { version } from '../version.ts';
import { addCertifyingCommands } from './command-table/certifying.ts';
import { addOfflineCommands } from './command-table/offline.ts';
import { addReceivingCommands } from './command-table/receiving.ts';
import { addRunningCommands } from './command-table/running.ts';
import type { ActionMaker } from './command-table/shared-options.ts';
import { describeError } from './describe-error.ts';

/** Builds the program. `finish` takes the exit code of the command that ran. */
export function createProgram(finish: (code: number) => void): Command {
  const action: ActionMaker =
    (load) =>
    async (...given) => {
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

  addRunningCommands(program, action);
  addReceivingCommands(program, action);
  addCertifyingCommands(program, action);
  addOfflineCommands(program, action);
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
