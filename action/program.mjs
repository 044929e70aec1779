/** Finds the hookproof program that the action runs, and installs or builds it if necessary. */
// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** The minimum version of Node, as in package.json. */
const OLDEST_NODE = { major: 20, minor: 19 };

export class NoProgram extends Error {}

export function checkNode(version = process.versions.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > OLDEST_NODE.major || (major === OLDEST_NODE.major && minor >= OLDEST_NODE.minor)) return;
  const oldest = `${OLDEST_NODE.major}.${OLDEST_NODE.minor}`;
  throw new NoProgram(`hookproof needs Node ${oldest} or newer; this is ${version}. Add actions/setup-node before it.`);
}

/** @param {readonly string[]} args @param {string} cwd @param {NodeJS.ProcessEnv} env */
function npm(args, cwd, env) {
  // On Windows, npm is a script and needs a shell. The version is the only argument from outside, and it is checked.
  const { status, error } = spawnSync('npm', args, {
    cwd,
    env,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  throw new NoProgram(`npm ${args[0]} ended with ${error?.message ?? `exit code ${status}`}: see the log.`);
}

const QUIET = ['--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Returns the path of the program. Without a version, it is the program in the action's checkout: a workflow that pins
 * the action to a commit pins everything that runs. A checkout that is already built is used as it is. A release
 * contains the bundle, and any other commit is built here from its lock file.
 *
 * @param {{ version: string, checkout: string, temporary: string, env: NodeJS.ProcessEnv }} where `env` is for npm and
 *   contains no secrets; `temporary` is a folder that outlives the step
 * @throws {NoProgram}
 */
export function findProgram({ version, checkout, temporary, env }) {
  if (version !== '') {
    const folder = join(temporary, `hookproof-${version.replaceAll(/[^0-9A-Za-z.-]/g, '_')}`);
    mkdirSync(folder, { recursive: true });
    npm(
      ['install', '--prefix', folder, '--no-save', '--ignore-scripts', ...QUIET, `hookproof@${version}`],
      folder,
      env,
    );
    return join(folder, 'node_modules', 'hookproof', 'dist', 'bin', 'hookproof.js');
  }
  const program = join(checkout, 'dist', 'bin', 'hookproof.js');
  if (existsSync(program) && existsSync(join(checkout, 'node_modules', 'express'))) return program;
  const bundle = join(checkout, 'bundle', 'hookproof.cjs');
  if (existsSync(bundle)) return bundle;
  npm(['ci', '--ignore-scripts', ...QUIET], checkout, env);
  npm(['run', '--silent', 'build'], checkout, env);
  return program;
}
