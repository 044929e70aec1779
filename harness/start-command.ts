/** Starts the operator's commands in a shell, with only the environment variables that are listed for them. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/**
 * The variables that shells, ssh, containers and kubectl need. They include no credential of hookproof, because the
 * command may start the receiver that is being certified.
 */
const COMMAND_VARIABLES: readonly string[] = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TERM', 'SystemRoot'],
  ...['LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'XDG_CONFIG_HOME', 'XDG_RUNTIME_DIR'],
  ...['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'KUBECONFIG', 'SSH_AUTH_SOCK'],
];

/** Returns the variables of this process with these names, if set. */
export function listedVariables(names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.flatMap((name) => (name in process.env ? [[name, process.env[name]]] : [])));
}

/** An operator's command, and the names of the variables that it gets in addition to the usual ones. */
export interface OperatorCommand {
  readonly command: string;
  readonly variables?: readonly string[] | undefined;
  /** Further variables, by name. They must not be secrets. */
  readonly values?: Readonly<Record<string, string>> | undefined;
}

/**
 * Starts a command in a shell and in a separate process group, so that everything that it starts can be ended with it.
 * `argument` is appended as one word.
 */
export function startCommand(
  { command, variables = [], values }: OperatorCommand,
  stdio: NonNullable<SpawnOptions['stdio']>,
  argument?: string,
): ChildProcess {
  const shell = argument === undefined ? ['-c', command] : ['-c', `${command} "$1"`, 'sh', argument];
  const env = { ...listedVariables([...COMMAND_VARIABLES, ...variables]), ...values };
  return spawn('/bin/sh', shell, { stdio, detached: true, env });
}

/** Kills a command and everything that it started. */
export function killCommand({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}
