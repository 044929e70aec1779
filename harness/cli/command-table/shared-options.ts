/** Options that several commands share. They are derived from the table of settings; no large module is loaded. */
import { type Command, Option } from 'commander';
import { FOREIGN_SCHEMES } from '../../../contract/signing/schemes/schemes.ts';
import { defaultText, SETTINGS, type Setting } from '../../config/settings.ts';

type Action = (...given: never[]) => Promise<number>;

/** Makes an action for commander that loads the command when it is called, and passes on its exit code. */
export type ActionMaker = (load: () => Promise<Action>) => (...given: unknown[]) => Promise<void>;

export const EXIT_CODES = `
Exit codes:
  0 conformant, 1 failures, 2 usage or configuration error, 3 no verdict, 4 internal error, 130/143 interrupted`;

/** Collects the values of an option that can be given several times. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** The help of each flag, or a pair: the help with {@link collect} for a repeatable flag, or with the default value. */
export type FlagTable = Readonly<Record<string, string | readonly [help: string, more: string | typeof collect]>>;

export function withFlags(command: Command, ...tables: readonly FlagTable[]): Command {
  for (const [flag, given] of tables.flatMap((table) => Object.entries(table))) {
    const [help, more] = typeof given === 'string' ? [given] : given;
    if (typeof more === 'function') command.option(flag, help, more);
    else command.option(flag, help, more);
  }
  return command;
}

/** Returns the option for the scheme of another service. */
export function schemeOption(help: string): Option {
  return new Option('--scheme <name>', help).choices(FOREIGN_SCHEMES.map(({ name }) => name));
}

/** Adds the flags of settings: of whole groups, or of single settings by path. */
export function withSettings(command: Command, ...wanted: readonly string[]): Command {
  for (const setting of SETTINGS as readonly Setting[]) {
    if (setting.flag === undefined || !(wanted.includes(setting.group) || wanted.includes(setting.path))) continue;
    if (isRepeatable(setting)) command.option(setting.flag, helpOf(setting), collect);
    else command.option(setting.flag, helpOf(setting));
  }
  return command;
}

/** Adds the options for the endpoint and its credentials, for every command that sends. */
export function withEndpoint(command: Command): Command {
  command.option('--config <file>', 'configuration file (default: hookproof.yaml, if it exists)');
  return withSettings(command, 'endpoint');
}

export const OUTPUT_OF_FLEET = 'output folder of `certify --partners` (default: hookproof-partners)';

export const SET_HELP =
  'set a field, for example data.metadata.orderStatus=FAILED (repeatable; the value is read as JSON ' +
  'if possible, otherwise as text)';

/** Adds `--yes`, for commands that ask before they send to a public host. */
export function withYes(command: Command): Command {
  return command.option('--yes', 'do not ask before sending to a public host that hookproof.yaml does not name');
}

/** Adds `--open`, for commands that judge an endpoint: it confirms that no credentials are needed. */
export function withOpen(command: Command): Command {
  return withSettings(command, 'open');
}

/** Adds the options of a whole run. */
export function withRun(command: Command): Command {
  return withSettings(withEndpoint(command), 'run');
}

function isRepeatable({ type }: Setting): boolean {
  return type === 'words' || type === 'paths' || type === 'headers' || type === 'reporters';
}

function helpOf(setting: Setting): string {
  const { environment } = setting;
  const standard = defaultText(setting);
  const notes = [
    ...(environment === undefined ? [] : [`or ${environment}`]),
    ...(isRepeatable(setting) ? ['repeatable'] : []),
    ...(standard === undefined || standard === 'none' ? [] : [`default: ${standard}`]),
  ];
  const words = 'words' in setting ? `: ${setting.words.join(', ')}` : '';
  const text = `${setting.flagHelp ?? setting.description}${words}`;
  return notes.length === 0 ? text : `${text} (${notes.join('; ')})`;
}
