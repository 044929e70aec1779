/**
 * The action: reads the inputs from the environment, runs hookproof, writes the outputs, and ends with its exit code.
 * No dependencies and no build: the runner starts it from the checkout.
 */
// @ts-check
import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readInputs, WrongInput } from './inputs.mjs';
import { filesIn, outputsOf, writeOutputs } from './outputs.mjs';
import { checkNode, findProgram, NoProgram } from './program.mjs';

/** Removes the inputs, some of which are secrets, from an environment. @param {NodeJS.ProcessEnv} env */
function withoutInputs(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('INPUT_')));
}

/** Removes every variable that could be a secret of the run, for npm. @param {NodeJS.ProcessEnv} env */
function withoutSecrets(env) {
  return Object.fromEntries(Object.entries(withoutInputs(env)).filter(([name]) => !name.startsWith('HOOKPROOF_')));
}

/**
 * Runs the program and resolves with its exit code. Forwards signals, so that the program can write partial results.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} options
 * @returns {Promise<number>}
 */
function runProgram(program, args, { cwd, env }) {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [program, ...args], { cwd, env, stdio: 'inherit' });
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal));
    child.once('error', failed);
    child.once('exit', (code, signal) => done(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });
}

/**
 * Prints an annotation, and adds the message to the job summary, which would otherwise be empty.
 *
 * @param {string} message
 */
function sayNothingRan(message) {
  const line = message.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  process.stdout.write(`::error title=hookproof::${line}\n`);
  const { GITHUB_STEP_SUMMARY: summary = '' } = process.env;
  if (summary !== '') appendFileSync(summary, `## ⚠️ hookproof: no result\n\n${message}\n`);
}

async function act() {
  const { GITHUB_OUTPUT: outputFile = '', GITHUB_WORKSPACE = process.cwd(), RUNNER_TEMP = tmpdir() } = process.env;
  /** @type {{ folder: string, files: Record<string, string> }} */
  const before = { folder: '', files: {} };
  const temporary = mkdtempSync(join(RUNNER_TEMP, 'hookproof-'));
  let exitCode = 2;
  let trouble = '';
  try {
    checkNode();
    const { command, args, variables, texts, outputDir, version, workingDirectory } = readInputs(process.env);
    const cwd = resolve(GITHUB_WORKSPACE, workingDirectory);
    before.folder = resolve(cwd, outputDir);
    before.files = filesIn(before.folder);
    const program = findProgram({
      version,
      checkout: dirname(dirname(fileURLToPath(import.meta.url))),
      temporary: RUNNER_TEMP,
      env: withoutSecrets(process.env),
    });
    for (const [variable, text] of Object.entries(texts)) {
      variables[variable] = join(temporary, `${variable.toLowerCase()}.pem`);
      writeFileSync(variables[variable], text.endsWith('\n') ? text : `${text}\n`, { mode: 0o600 });
    }
    mkdirSync(before.folder, { recursive: true });
    const reporters = [
      '--reporter=github',
      `--reporter=badge=${join(before.folder, 'badge.svg')}`,
      `--reporter=sarif=${join(before.folder, 'hookproof.sarif')}`,
    ];
    // No confirmation is needed, because the workflow names the endpoint, as a configuration file would.
    const given = ['--yes', ...args, ...reporters, `--output-dir=${before.folder}`];
    exitCode = await runProgram(program, [command, ...given], {
      cwd,
      env: { ...withoutInputs(process.env), ...variables },
    });
  } catch (error) {
    trouble = error instanceof Error ? error.message : String(error);
    // Exit code 1 would mean that the endpoint failed.
    if (!(error instanceof WrongInput || error instanceof NoProgram)) exitCode = 4;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  const outputs = outputsOf(before.folder, before.files, exitCode);
  if (outputFile !== '') writeOutputs(outputFile, outputs);
  if (outputs.verdict === 'none') sayNothingRan(trouble || `hookproof ended with exit code ${exitCode}: see the log.`);
  return exitCode;
}

process.exitCode = await act();
