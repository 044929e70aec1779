/** Starts programs of others: commands of the operator, in a shell. They get listed variables, and no others. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/**
 * What shells, ssh, containers and kubectl need to work as they do in a terminal. A credential of this program is not
 * among them: the command may start the receiver that is being certified.
 */
const COMMAND_VARIABLES: readonly string[] = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TERM', 'SystemRoot'],
  ...['LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'XDG_CONFIG_HOME', 'XDG_RUNTIME_DIR'],
  ...['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'KUBECONFIG', 'SSH_AUTH_SOCK'],
];

/** The variables of this process with these names, as far as they are set. */
export function listedVariables(names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])));
}

/** A command of the operator, and the names of the variables that it gets in addition to the usual ones. */
export interface OperatorCommand {
  readonly command: string;
  readonly variables?: readonly string[] | undefined;
}

/**
 * Starts a command in a shell and in a process group of its own, so that what it starts can be ended with it.
 * `argument` is added to it as one word.
 */
export function startCommand(
  { command, variables = [] }: OperatorCommand,
  stdio: NonNullable<SpawnOptions['stdio']>,
  argument?: string,
): ChildProcess {
  const shell = argument === undefined ? ['-c', command] : ['-c', `${command} "$1"`, 'sh', argument];
  const env = listedVariables([...COMMAND_VARIABLES, ...variables]);
  return spawn('/bin/sh', shell, { stdio, detached: true, env });
}

/** Kills a command and everything that it started. */
export function killCommand({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
