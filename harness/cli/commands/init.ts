/** `hookproof init`: writes a commented hookproof.yaml and, with `--stack`, a receiver to copy. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HookproofError } from '../../../contract/hookproof-error.ts';
import { readPackageFile } from '../../../contract/package-file.ts';
import {
  effectsServerOf,
  filesOf,
  recipeInScheme,
  recipeOf,
  SCHEME_RECIPES,
  STACKS,
  type Stack,
  titleOfStack,
} from '../../../contract/stacks.ts';
import { CONFIG_FILE, configTemplate, SCHEMA_FILE } from '../../config/index.ts';
import { whyNotWritable } from '../../writable.ts';
import { stackCalled } from '../did-you-mean.ts';
import { errorCode } from '../terminal.ts';
import { schemaText } from './config.ts';

interface InitFlags {
  readonly force?: boolean;
  readonly stack?: string;
  readonly scheme?: string;
}

/** Runs `hookproof init`. `target` is the file to write; with `--stack`, a folder. */
export async function initCommand(target: string | undefined, flags: InitFlags): Promise<number> {
  if (flags.stack === 'list') {
    const width = Math.max(...STACKS.map(({ length }) => length)) + 2;
    for (const stack of STACKS) process.stdout.write(`${stack.padEnd(width)}${titleOfStack(stack).title}\n`);
    return 0;
  }
  if (flags.scheme !== undefined && flags.stack === undefined) {
    throw new HookproofError('INIT_NO_STACK', '`--scheme` needs the stack of the receiver', {
      hint: 'Add `--stack express` or `--stack flask`, or set `scheme` in hookproof.yaml.',
    });
  }
  const force = flags.force === true;
  const text =
    flags.stack === undefined
      ? await writeConfig(target ?? CONFIG_FILE, force)
      : await writeRecipe(stackCalled(flags.stack, 'INIT_UNKNOWN_STACK'), flags.scheme, target ?? '.', force);
  process.stdout.write(`${text}\n`);
  return 0;
}

async function writeConfig(target: string, force: boolean): Promise<string> {
  await writeAll([[target, configTemplate()]], force);
  const schema = await writeSchema(dirname(target));
  const named = target === CONFIG_FILE ? '' : ` --config ${quoted(target)}`;
  return [
    `wrote ${target}`,
    `wrote ${schema}: editors use it to check ${target} and complete its settings`,
    '',
    'Next:',
    `  1. Set the URL of your endpoint in ${target}, and remove what you do not use.`,
    '  2. Put the HMAC secret in the variable that the file names: export WEBHOOK_SECRET=...',
    `  3. Print the resolved settings:  hookproof config show${named}`,
    `  4. Run the checks:               hookproof run${named}`,
    '',
    named === ''
      ? `Without --config, a command reads the ${CONFIG_FILE} of the folder in which it starts.`
      : 'With --config, a command reads no other configuration file.',
  ].join('\n');
}

/**
 * Writes the schema that the first line of the configuration names. The file is generated, so a newer version of
 * hookproof replaces it.
 */
async function writeSchema(folder: string): Promise<string> {
  const path = join(folder, SCHEMA_FILE);
  await writeAll([[path, await schemaText()]], true);
  return path;
}

/** The address on which the recipes listen unless PORT and HOST are set. */
const RECIPE_URL = 'http://127.0.0.1:3000/hooks';

async function writeRecipe(stack: Stack, scheme: string | undefined, folder: string, force: boolean): Promise<string> {
  const recipe = scheme === undefined ? recipeOf(stack) : recipeFor(stack, scheme);
  const { needs, install, run, effects, effectsBuild } = recipe;
  const from = recipeOf(stack).stack;
  const sources = filesOf(recipe).map(({ from: source, to }) => [join(folder, to), readRecipe(source)] as const);
  // Turns a comment of the template into a setting.
  const config = configTemplate(RECIPE_URL)
    .replace(/^# stack: \S+ */m, `stack: ${stack} `)
    .replace(/^# scheme: \S+ */m, (line) => (scheme === undefined ? line : `scheme: ${scheme} `));
  // If a folder cannot be created, writing the file in it reports the error.
  for (const [path] of sources) await mkdir(dirname(path), { recursive: true }).catch(() => {});
  await writeAll([...sources, [join(folder, CONFIG_FILE), config]], force);
  const schema = await writeSchema(folder);
  const enter = folder === '.' ? [] : [`     cd ${quoted(folder)}`];
  const secret = '$(cat webhook-secret.txt)';
  const generate = scheme === undefined ? 'openssl rand -hex 32' : 'echo "whsec_$(openssl rand -base64 24)"';
  const effectsSteps = [
    '  3. In a test environment, also check what the receiver stored:',
    ...enter,
    ...(effectsBuild === undefined ? [] : [`     ${effectsBuild}`]),
    `     WEBHOOK_SECRET=${secret} hookproof run --effects-command '${effects}'`,
    '',
    `For a receiver on another machine, \`${effectsServerOf(recipe)}\` serves the effects window`,
    'there as an endpoint. It needs WEBHOOK_EFFECTS_TOKEN with at least 16 characters. Do not start it in production.',
    '',
  ];
  return [
    ...sources.map(([file]) => `wrote ${file}`),
    `wrote ${join(folder, CONFIG_FILE)}`,
    `wrote ${schema}: editors use it to check hookproof.yaml and complete its settings`,
    '',
    `A receiver to start from: ${titleOfStack(from).title}. It needs ${needs}.`,
    '',
    '  1. Generate a secret, and start the receiver:',
    ...enter,
    `     (umask 077; ${generate} > webhook-secret.txt)`,
    ...(install === undefined ? [] : [`     ${install}`]),
    `     WEBHOOK_SECRET=${secret} ${run}`,
    '',
    `  2. In another terminal, check ${RECIPE_URL} with the ${CONFIG_FILE} of this folder:`,
    ...enter,
    `     WEBHOOK_SECRET=${secret} hookproof run`,
    '',
    ...(scheme === undefined ? effectsSteps : []),
    'Do not commit webhook-secret.txt.',
  ].join('\n');
}

/** Returns the recipe of a stack in a scheme. */
function recipeFor(stack: Stack, scheme: string): ReturnType<typeof recipeOf> {
  const stacks = SCHEME_RECIPES[scheme] ?? [];
  if (stacks.includes(stack)) return recipeInScheme(stack, scheme);
  throw new HookproofError('INIT_NO_RECIPE', `there is no recipe for ${stack} in the scheme ${scheme}`, {
    hint: `Choose from ${stacks.join(', ')}, or leave out \`--scheme\`.`,
  });
}

function readRecipe(path: string): string {
  const file = readPackageFile(`recipes/${path}`);
  if (file !== null) return file.toString();
  throw new HookproofError('INIT_NO_RECIPE', `the file recipes/${path} is missing from this installation`, {
    hint: 'Reinstall hookproof.',
  });
}

/** Writes all files. Without `force`, writes none if one of them exists. */
async function writeAll(files: readonly (readonly [path: string, text: string])[], force: boolean): Promise<void> {
  const existing = files.map(([path]) => path).filter((path) => !force && existsSync(path));
  if (existing.length > 0) throw existsAlready(existing);
  for (const [path, text] of files) {
    try {
      await writeFile(path, text, { flag: force ? 'w' : 'wx' });
    } catch (cause) {
      if (errorCode(cause) === 'EEXIST') throw existsAlready([path]);
      const { reason, fix } = whyNotWritable(dirname(path)) ?? {
        reason: errorCode(cause),
        fix: 'Check that its folder exists and is writable.',
      };
      throw new HookproofError('INIT_NOT_WRITTEN', `the file ${path} cannot be written: ${reason}`, {
        hint: fix,
        cause,
      });
    }
  }
}

function existsAlready(paths: readonly string[]): HookproofError {
  const [first] = paths;
  if (paths.length === 1) {
    return new HookproofError('INIT_EXISTS', `the file ${first} already exists`, {
      hint: 'Give another file, or replace this one with `--force`.',
    });
  }
  return new HookproofError('INIT_EXISTS', `these files already exist: ${paths.join(', ')}`, {
    hint: 'Give another folder, or replace them with `--force`.',
  });
}

/** Quotes a word for a POSIX shell. */
const quoted = (word: string) => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
