/** Runs the commands of the installed package, and checks their messages when an optional package is missing. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

interface Installation {
  /** The project in which the package is installed. */
  readonly folder: string;
  /** Path of the Node program that runs the commands. */
  readonly node: string;
  readonly env: Readonly<Record<string, string>>;
  readonly version: string;
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const PROGRAM = join('node_modules', '.bin', 'hookproof');
const STAGING = ['--profile', 'staging', '--ca', 'ca.pem'];

/** Returns the problems that were found. */
export async function useCommands({ folder, node, env: plain, version }: Installation): Promise<string[]> {
  const problems: string[] = [];
  const env = { ...plain, HOOKPROOF_SECRET: randomBytes(32).toString('hex') };
  const check = (what: string, isRight: boolean, { code, stdout, stderr }: Ended) => {
    if (!isRight) problems.push(`${what}: exit ${code}\n${stdout}${stderr}`);
  };
  const hookproof = (...args: string[]) =>
    new Promise<Ended>((resolve) => {
      execFile(PROGRAM, args, { cwd: folder, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      );
    });
  const passed = (output: string): number => {
    const { counts } = JSON.parse(readFileSync(join(folder, output, 'run.json'), 'utf8'));
    return counts.fail === 0 ? counts.pass : 0;
  };

  const printed = await hookproof('--version');
  check('the version', printed.stdout.trim() === version, printed);
  const demo = await hookproof('demo', '--output-dir', 'demo');
  check('demo', demo.code === 0 && passed('demo') > 0, demo);

  const hasSqlite = (await execNode(node, '-p', "require('node:module').isBuiltin('node:sqlite')")).trim() === 'true';
  const receiver = await startReceiver(folder, env, hasSqlite ? ['--inbox', 'file:inbox.db'] : []);
  try {
    const run = await hookproof('run', receiver.url, ...STAGING, '--output-dir', 'run');
    check('run', run.code === 0 && passed('run') > 0, run);
    const keygen = await hookproof('certify', 'keygen', 'operator.pem');
    check('certify keygen', keygen.code === 0, keygen);
    const signing = ['--key', 'operator.pem', '--allow-private', 'localhost'];
    const certify = await hookproof('certify', receiver.url, ...STAGING, ...signing, '-o', 'certified');
    check('certify', certify.code === 0 && certify.stdout.includes('✓ CERTIFIED'), certify);
  } finally {
    const log = await receiver.stop();
    const lines = log
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const isWhole = lines.every(({ level, time, name, msg }) => level >= 30 && time && name === 'receiver' && msg);
    if (!isWhole || !lines.some(({ event }) => event === 'delivery')) problems.push(`the log of the receiver:\n${log}`);
  }

  const tools = await explainByMcp(folder, env);
  if (!tools.includes('raw-body/spaces')) problems.push(`mcp: ${tools}`);
  console.log(
    `commands: version ${version} on Node ${(await execNode(node, '-p', 'process.versions.node')).trim()}; ` +
      `demo ${passed('demo')} and run ${passed('run')} checks passed; receiver, certify, mcp`,
  );

  const missing = [
    ['pg@8', '--inbox', 'postgres://user@127.0.0.1:1/none'],
    ['prom-client@15', '--admin-port', '0'],
    ...(hasSqlite ? [] : [['@photostructure/sqlite@1', '--inbox', 'file:inbox.db']]),
  ];
  for (const [name, ...flags] of missing) {
    const ended = await hookproof('receiver', '--port', '0', ...flags);
    check(`without ${name}`, ended.code === 2 && ended.stderr.includes(`npm install ${name}\n`), ended);
  }
  console.log(`optional packages: ${missing.map(([name]) => name).join(', ')} are named when they are missing`);
  return problems;
}

function execNode(node: string, ...args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(node, args, (error, stdout) => (error === null ? resolve(stdout) : reject(error)));
  });
}

/** Starts the reference receiver over HTTPS, with its CA in ca.pem. `stop` resolves with its log. */
async function startReceiver(folder: string, env: NodeJS.ProcessEnv, more: readonly string[]) {
  const args = ['receiver', '--port', '0', '--tls-quick-start', '--tls-quick-start-ca', 'ca.pem', ...more];
  const child = spawn(PROGRAM, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const log: Buffer[] = [];
  child.stdout.on('data', (data: Buffer) => log.push(data));
  const closed = once(child, 'close');
  const port = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      const listening = /^listening at https:\/\/[^/]*:(\d+)\//.exec(line)?.[1];
      if (listening !== undefined) resolve(listening);
    });
    closed.then(() => reject(new Error('the receiver did not start')));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await closed;
    return Buffer.concat(log).toString();
  };
  return { url: `https://localhost:${port}/`, stop };
}

/** Returns the answer of one tool of the MCP server, over its standard input and output. */
async function explainByMcp(folder: string, env: Record<string, string>): Promise<string> {
  const client = new Client({ name: 'package', version: '1' });
  await client.connect(
    new StdioClientTransport({ command: PROGRAM, args: ['mcp'], env, cwd: folder, stderr: 'ignore' }),
  );
  try {
    return JSON.stringify(await client.callTool({ name: 'explain', arguments: { id: 'raw-body/spaces' } }));
  } finally {
    await client.close();
  }
}
