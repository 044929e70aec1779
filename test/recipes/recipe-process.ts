/** Runs a recipe as a process, from a copy of its files in a temporary folder, as its README says. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { effectsServerOf, filesOf, recipeOf, type Stack } from '../../contract/index.ts';
import { accepting, freePort } from '../endpoints/listen.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The PATH. It begins with the Node of the tests and with the interpreters that find the system's packages. */
const PATH = [dirname(process.execPath), '/usr/bin', process.env.PATH].join(delimiter);

/** Checks that replace those of the table if a test does not take the framework from where a partner would. */
const CHECKS: Partial<Readonly<Record<Stack, string>>> = {
  laravel: 'php --version && test -f /usr/share/php/Illuminate/Routing/autoload.php',
};

/** Returns why a recipe cannot run here. Null if it can. */
export function whyNotRun(stack: Stack): string | null {
  const { check: ofPartner, needs, notRun } = recipeOf(stack);
  if (notRun !== undefined) return notRun;
  const check = CHECKS[stack] ?? ofPartner;
  const options = { shell: true, stdio: 'ignore', cwd: ROOT, env: { ...process.env, PATH } } as const;
  return spawnSync(check, options).status === 0 ? null : `needs ${needs} (\`${check}\` fails)`;
}

/** Returns the output of a shell command in the environment in which the recipes run. */
export function outputOf(command: string): string {
  const options = { shell: true, encoding: 'utf8', cwd: ROOT, env: { ...process.env, PATH } } as const;
  return spawnSync(command, options).stdout.trim();
}

export const sourceOf = (stack: Stack): string => readFileSync(sourceFile(stack), 'utf8');

/** Returns the files of a receiver, without its effects window, by their names in its folder. */
export function textsOf(stack: Stack): (readonly [file: string, text: string])[] {
  const isCode = (name: string) =>
    /\.(?:mjs|ts|py|php|rb|go|java|cs|rs)$/.test(name) && !/effects|gunicorn/i.test(name);
  return filesOf(recipeOf(stack))
    .filter(({ to }) => isCode(to))
    .map(({ from, to }) => [to, readFileSync(join(ROOT, 'recipes', from), 'utf8')]);
}

function sourceFile(stack: Stack): string {
  const { files, stack: folder } = recipeOf(stack);
  return join(ROOT, 'recipes', folder, files[0] ?? '');
}

/** Laravel as the Debian package php-laravel-framework installs it. */
const LARAVEL_OF_DEBIAN = ['Container', 'Events', 'Http', 'Routing']
  .map((part) => `require_once '/usr/share/php/Illuminate/${part}/autoload.php';`)
  .join('\n')
  .replace(/^/, '<?php\n');

/** Copies a recipe into a new folder, optionally with another source text of its receiver. */
export function copyRecipe(stack: Stack, source = sourceOf(stack)): string {
  const folder = mkdtempSync(join(tmpdir(), `recipe-${stack}-`));
  const recipe = recipeOf(stack);
  for (const { from, to } of filesOf(recipe)) {
    mkdirSync(dirname(join(folder, to)), { recursive: true });
    copyFileSync(join(ROOT, 'recipes', from), join(folder, to));
  }
  writeFileSync(join(folder, recipe.files[0] ?? ''), source);
  // The links replace `npm install` and `composer install`.
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  if (stack === 'laravel') {
    mkdirSync(join(folder, 'vendor'));
    writeFileSync(join(folder, 'vendor/autoload.php'), LARAVEL_OF_DEBIAN);
  }
  return folder;
}

export const removeCopy = (folder: string): void => rmSync(folder, { recursive: true, force: true });

export interface RecipeProcess {
  readonly url: string;
  /** The id of the first process, and of the process group. */
  readonly pid: number;
  /** Returns what the process has printed so far. */
  readonly output: () => string;
  /** Kills the process and every process that it has started. Resolves when it has ended. */
  readonly kill: () => Promise<void>;
}

export interface RecipeSettings {
  /** A folder that {@link copyRecipe} has created. */
  readonly folder: string;
  /** The journal. Default: `journal.ndjson` in the folder. */
  readonly journal?: string;
  readonly secret?: string;
  readonly previousSecret?: string;
  readonly apiKey?: string;
  /** The port. Default: a free one. */
  readonly port?: number;
  /** Maximum size of a file, in bytes. Do not set it for Node, which then exits instead of failing to write. */
  readonly maxFileBytes?: number;
}

/** Starts a recipe. Resolves when it prints that it is listening and accepts connections. Rejects if it ends first. */
export async function startRecipe(stack: Stack, settings: RecipeSettings): Promise<RecipeProcess> {
  const { folder, journal, secret = '', previousSecret = '', apiKey = '', maxFileBytes } = settings;
  const port = settings.port ?? (await freePort());
  const env = {
    PORT: String(port),
    WEBHOOK_SECRET: secret,
    WEBHOOK_PREVIOUS_SECRET: previousSecret,
    WEBHOOK_API_KEY: apiKey,
    ...(journal === undefined ? {} : { WEBHOOK_JOURNAL: journal }),
  };
  // A shell counts blocks of 512 bytes.
  const limit = maxFileBytes === undefined ? '' : `trap '' XFSZ; ulimit -f ${Math.ceil(maxFileBytes / 512)}; `;
  const url = `http://127.0.0.1:${port}/hooks`;
  return startProcess({ run: limit + recipeOf(stack).run, folder, env, port, url, says: `listening on ${url}` });
}

/** Runs a command of a recipe in its folder, with additional arguments. */
export function runInFolder(folder: string, command: string, ...args: string[]) {
  const options = { cwd: folder, encoding: 'utf8', env: { ...process.env, PATH } } as const;
  return spawnSync('/bin/sh', ['-c', `${command} "$@"`, 'sh', ...args], options);
}

/** Starts the effects window of a recipe as an endpoint on a free port. `run` replaces its command. */
export async function startEffects(
  stack: Stack,
  folder: string,
  token: string,
  run = effectsServerOf(recipeOf(stack)),
): Promise<RecipeProcess> {
  const port = await freePort();
  const env = { WEBHOOK_EFFECTS_PORT: String(port), WEBHOOK_EFFECTS_TOKEN: token };
  const url = `http://127.0.0.1:${port}/effects`;
  return startProcess({ run, folder, env, port, url, says: `effects on ${url}` });
}

interface ProcessSettings {
  readonly run: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
  readonly url: string;
  /** The text that the program prints when it is ready. */
  readonly says: string;
}

/**
 * Starts a program that listens on a port. Resolves when it prints `says` and accepts connections. Rejects if it ends
 * first.
 */
export async function startProcess({ run, folder, env, port, url, says }: ProcessSettings): Promise<RecipeProcess> {
  // The process gets its own group, so that workers and the processes of a build tool end with it.
  const child = spawn(run, {
    shell: true,
    cwd: folder,
    env: { ...process.env, PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    const read = (data: Buffer) => {
      // Servers log every request.
      output = (output + data).slice(-20_000);
      if (output.includes(says)) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => reject(new Error(`\`${run}\` ended with ${child.exitCode ?? child.signalCode}:\n${output}`)));
  });
  await accepting(port, child).catch((error) => {
    killGroup(child);
    throw error;
  });
  return {
    url,
    pid: child.pid ?? 0,
    output: () => output,
    kill: () => {
      killGroup(child);
      return ended;
    },
  };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
