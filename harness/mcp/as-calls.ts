/** Replaces the commands and flags in hookproof's texts with what an MCP client can use: tool calls and settings. */
import { flagOf, SETTINGS, type Setting } from '../config/settings.ts';

/** What a tool takes instead of the arguments and flags of the command with the same name. */
interface Call {
  readonly positional?: string;
  readonly flags: Readonly<Record<string, string>>;
  /** Arguments without which the tool does something other than the command. */
  readonly given?: Readonly<Record<string, unknown>>;
}

const RUN = { suite: 'suites', scenario: 'scenarios', grep: 'grep', concurrency: 'concurrency', open: 'open' };
const LISTS = new Set(['suites', 'scenarios', 'grep']);
const CALLS: Readonly<Record<string, Call>> = {
  run: { positional: 'url', flags: RUN },
  doctor: { positional: 'url', flags: { deliver: 'deliver' } },
  list: { flags: { what: 'what' }, given: { what: 'scenarios' } },
  explain: { positional: 'id', flags: { stack: 'stack' } },
  verify: { flags: { signature: 'signature' }, given: { body: '...' } },
};

/** Tool arguments by flag, for texts that contain a flag without its command. */
const ARGUMENTS: Readonly<Record<string, string>> = { ...RUN, deliver: 'deliver', what: 'what' };

/** For each flag, the path of its setting, and whether the setting exists only as a flag. */
const OF_FLAG = new Map(
  (SETTINGS as readonly Setting[]).map(
    (setting) => [flagOf(setting)?.slice(2), { path: setting.path, flagOnly: setting.flagOnly ?? false }] as const,
  ),
);

/** Code in backticks; a command at the end of a line of an explanation; a flag in the text. */
const PRINTED = /`([^`\n]+)`|(?<= {2})(hookproof [a-z]+ [^\n]+)|(?<![\w`-])--[a-z][a-z-]+(?:(?<=--header) '[^'\n]+')?/g;
const WORD = /'([^']*)'|"([^"]*)"|(\S+)/g;
/** A value that stands for any other: FILE, URL, i/n. */
const PLACEHOLDER = /^(?:[A-Z=]+|i\/n)$/;

/** Replaces the commands and flags in a text. Commands without a corresponding tool are marked as such. */
export function asCalls(text: string): string {
  return text.replace(PRINTED, (printed: string, code?: string, line?: string) => {
    const command = code ?? line ?? printed;
    if (command.startsWith('hookproof ')) return callOf(command) ?? `\`${command}\` (in a terminal)`;
    return command.startsWith('--') ? flagsInWords(command, printed) : printed;
  });
}

/** Splits the words of a shell; each flag gets the words until the next one. */
function readWords(command: string) {
  const positional: string[] = [];
  const flags: [name: string, value: string | undefined][] = [];
  for (const [, single, double, plain] of command.matchAll(WORD)) {
    const word = single ?? double ?? plain ?? '';
    const last = flags.at(-1);
    if (plain?.startsWith('--') === true) flags.push([word.slice(2), undefined]);
    else if (last === undefined) positional.push(word);
    else last[1] = last[1] === undefined ? word : `${last[1]} ${word}`;
  }
  return { positional, flags };
}

/** Returns the call of the tool that corresponds to a command; null if there is none. */
function callOf(command: string): string | null {
  const { flags, positional } = readWords(command);
  const [, name = '', argument] = positional;
  const call = CALLS[name];
  if (call === undefined) return null;
  const given: Record<string, unknown> = { ...call.given };
  for (const [flag, value] of flags) {
    const key = call.flags[flag];
    // The settings are those of the server.
    if (key === undefined && !OF_FLAG.has(flag)) return null;
    if (key !== undefined)
      given[key] = LISTS.has(key) ? [...((given[key] as string[]) ?? []), value] : argumentOf(value);
  }
  const isKnown = argument !== undefined && (!PLACEHOLDER.test(argument) || Object.keys(given).length === 0);
  const all = { ...(isKnown && call.positional !== undefined && { [call.positional]: argument }), ...given };
  return `\`${name}\`${Object.keys(all).length === 0 ? '' : ` with ${JSON.stringify(all)}`}`;
}

/** Names the arguments and settings of flags. An unknown flag belongs to another program, or only to the server. */
function flagsInWords(command: string, printed: string): string {
  const { flags } = readWords(command);
  const parts = flags.map(([flag, value]) => {
    const shown = value === undefined || PLACEHOLDER.test(value) ? '' : `: ${value}`;
    const argument = ARGUMENTS[flag];
    if (argument !== undefined) return `\`${argument}${shown}\``;
    const setting = OF_FLAG.get(flag);
    if (setting === undefined) return null;
    return setting.flagOnly ? `\`--${flag}\` (in a terminal)` : `\`${setting.path}${shown}\` in hookproof.yaml`;
  });
  return parts.includes(null) ? printed : parts.join(' and ');
}

/** Returns the value of a flag as an argument: a number, or true for a flag without a value. */
function argumentOf(value: string | undefined): unknown {
  if (value === undefined) return true;
  return /^\d+$/.test(value) ? Number(value) : value;
}
