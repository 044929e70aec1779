/**
 * Completes a command line for the scripts of `hookproof completion`. Commands, flags and choices come from the command
 * table; other values come from the table below.
 */
import type { Argument, Command, Option } from 'commander';
import { flagOf, SETTINGS, type Setting } from '../config/settings.ts';
import { REPORTER_NAMES } from '../report/reporters.ts';
import { createProgram } from './program.ts';

interface Candidate {
  readonly value: string;
  /** The description; empty if there is none. */
  readonly description: string;
}

export interface Completion {
  /** The paths that the shell adds to the candidates. */
  readonly paths: 'none' | 'files' | 'folders';
  /** The candidates that begin with the last word. */
  readonly candidates: readonly Candidate[];
}

/** Completes the last word after `hookproof`; the word is empty if the cursor follows a space. */
export async function complete(words: readonly string[]): Promise<Completion> {
  const current = words.at(-1) ?? '';
  const program = createProgram(() => {});
  const { command, option, positional, given, isLiteral } = placeAfter(program, words.slice(0, -1));
  if (option !== undefined && !(option.optional && current.startsWith('-'))) {
    return completeValue(sourceOfOption(option), current);
  }
  const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (!isLiteral && flag !== undefined && value !== undefined) {
    const named = optionsOf(command).find(({ long }) => long === flag);
    return named === undefined ? NOTHING : completeValue(sourceOfOption(named), value, `${flag}=`);
  }
  if (!isLiteral && current.startsWith('-')) return matching(flagsOf(command, given), current);
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[positional] ?? (last?.variadic === true ? last : undefined);
  const subcommands = positional > 0 ? [] : command.commands;
  const names = subcommands.map((sub) => ({ value: sub.name(), description: sub.description() }));
  if (argument === undefined) return matching(names, current);
  const { paths, candidates } = await completeValue(sourceOfArgument(argument, command), current);
  return { paths, candidates: [...matching(names, current).candidates, ...candidates] };
}

/**
 * Formats a completion for the scripts: a line for the paths, then one for each candidate, with a tab before its
 * description.
 */
export function completionText({ paths, candidates }: Completion): string {
  return `${[paths, ...candidates.map(({ value, description }) => `${value}\t${description}`)].join('\n')}\n`;
}

const NOTHING: Completion = { paths: 'none', candidates: [] };

function matching(candidates: readonly Candidate[], current: string): Completion {
  return { paths: 'none', candidates: candidates.filter(({ value }) => value.startsWith(current)) };
}

interface Place {
  readonly command: Command;
  /** The option whose value is expected next. */
  readonly option: Option | undefined;
  /** The number of preceding arguments of the command. */
  readonly positional: number;
  readonly given: ReadonlySet<Option>;
  /** Whether `--` was given, after which every word is an argument. */
  readonly isLiteral: boolean;
}

function placeAfter(program: Command, words: readonly string[]): Place {
  let command = program;
  let option: Option | undefined;
  let positional = 0;
  let isLiteral = false;
  const given = new Set<Option>();
  for (const word of words) {
    const isFlag = !isLiteral && word.length > 1 && word.startsWith('-');
    if (option !== undefined && !(option.optional && isFlag)) {
      option = undefined;
      continue;
    }
    option = undefined;
    if (word === '--' && !isLiteral) {
      isLiteral = true;
    } else if (isFlag) {
      const found = optionsOf(command).find(({ long, short }) => [long, short].includes(word.split('=', 1)[0] ?? ''));
      if (found !== undefined) given.add(found);
      option = found !== undefined && !word.includes('=') && (found.required || found.optional) ? found : undefined;
    } else {
      const sub = positional > 0 || isLiteral ? undefined : command.commands.find((one) => one.name() === word);
      command = sub ?? command;
      positional = sub === undefined ? positional + 1 : 0;
    }
  }
  return { command, option, positional, given, isLiteral };
}

function optionsOf(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

/** Returns the flags that can still be given. A flag with a parsing function is repeatable. */
function flagsOf(command: Command, given: ReadonlySet<Option>): Candidate[] {
  return optionsOf(command)
    .filter((option) => !given.has(option) || option.parseArg !== undefined)
    .flatMap(({ long, description }) => (long == null ? [] : { value: long, description }));
}

/** The source of values for an option or argument. */
type Source = 'files' | 'folders' | 'nothing' | (() => Candidate[] | Promise<Candidate[]>);

function sourceOfOption(option: Option): Source {
  const choices = option.argChoices;
  if (choices !== undefined) return () => plain(choices);
  const [, placeholder = ''] = /[<[]([^<[>\]]+)[>\]]/.exec(option.flags) ?? [];
  const flag = option.long ?? '';
  return VALUES[flag] ?? settingWords(flag) ?? pathsNamed(placeholder);
}

function sourceOfArgument(argument: Argument, command: Command): Source {
  const choices = argument.argChoices;
  if (choices !== undefined) return () => plain(choices);
  return VALUES[`${command.name()} ${argument.name()}`] ?? pathsNamed(argument.name());
}

function pathsNamed(placeholder: string): Source {
  if (/^files?(?:\.\.\.)?$/.test(placeholder)) return 'files';
  return /^folders?(?:\.\.\.)?$/.test(placeholder) ? 'folders' : 'nothing';
}

async function completeValue(source: Source, current: string, before = ''): Promise<Completion> {
  if (source === 'nothing') return NOTHING;
  if (source === 'files' || source === 'folders') return { paths: source, candidates: [] };
  // After `json=`, a file is expected.
  if (source === reporters && current.includes('=')) return { paths: 'files', candidates: [] };
  const { candidates } = matching(await source(), current);
  return { paths: 'none', candidates: candidates.map((one) => ({ ...one, value: before + one.value })) };
}

const plain = (values: readonly string[]): Candidate[] => values.map((value) => ({ value, description: '' }));

function reporters(): Candidate[] {
  return REPORTER_NAMES.flatMap((name) => [
    { value: name, description: 'to standard output' },
    { value: `${name}=`, description: 'to a file' },
  ]);
}

const catalogue = async () => (await import('../../scenarios/index.ts')).EVERY_SUITE;

async function suites(): Promise<Candidate[]> {
  return (await catalogue()).map(({ name, title }) => ({ value: name, description: title }));
}

async function scenarios(): Promise<Candidate[]> {
  return (await catalogue()).flatMap((suite) =>
    suite.scenarios.map(({ id, title }) => ({ value: id, description: title })),
  );
}

async function faults(): Promise<Candidate[]> {
  const { loadDictionary } = await import('../diagnose/index.ts');
  return (await loadDictionary()).faults.map(({ name, title }) => ({ value: name, description: title }));
}

async function explained(): Promise<Candidate[]> {
  const [{ ERROR_CODES }, { MISTAKES }, { REQUIREMENTS }] = await Promise.all([
    import('../../contract/index.ts'),
    import('../../contract/mistakes/index.ts'),
    import('../../scenarios/index.ts'),
  ]);
  return [
    ...(await suites()),
    ...(await scenarios()),
    ...Object.entries(MISTAKES).map(([value, { title }]) => ({ value, description: title })),
    ...(await faults()),
    ...REQUIREMENTS.map(({ id, text }) => ({ value: id, description: text })),
    ...ERROR_CODES.map(({ code, meaning }) => ({ value: code, description: meaning })),
  ];
}

async function events(): Promise<Candidate[]> {
  const { SAMPLE_EVENTS } = await import('./sample-events.ts');
  const all = Object.entries(SAMPLE_EVENTS).map(([name, { title }]) => ({ value: name, description: title }));
  return [...all, { value: 'list', description: 'list all of them' }];
}

async function signingMistakes(): Promise<Candidate[]> {
  const { SIGNING_MISTAKES } = await import('../../contract/signing/index.ts');
  const all = SIGNING_MISTAKES.map(({ name, title }) => ({ value: name, description: title }));
  return [{ value: 'base64', description: 'as the sender does' }, ...all];
}

async function schemes(): Promise<Candidate[]> {
  const { SCHEMES } = await import('../../contract/signing/index.ts');
  return SCHEMES.map(({ name, title }) => ({ value: name, description: title }));
}

async function notificationKinds(): Promise<Candidate[]> {
  return plain((await import('../../contract/index.ts')).NOTIFICATION_KINDS);
}

/** Sources by flag, or by command and argument. Settings that are lists of words have their own source. */
const VALUES: Readonly<Record<string, Source>> = {
  '--suite': suites,
  '--scenario': scenarios,
  '--reporter': reporters,
  '--fault': faults,
  '--as': signingMistakes,
  '--kind': notificationKinds,
  '--scheme': schemes,
  '--state': () => plain(['pending', 'running', 'done', 'superseded', 'dead']),
  '--client-cert-mode': () => plain(['required', 'optional']),
  'explain id': explained,
  'trigger name': events,
};

function settingWords(flag: string): Source | undefined {
  const setting = SETTINGS.find((row: Setting) => flagOf(row) === flag);
  return setting !== undefined && 'words' in setting ? () => plain(setting.words) : undefined;
}
