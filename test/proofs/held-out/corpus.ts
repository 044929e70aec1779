/**
 * Measures the diagnosis on a corpus of faulty receivers outside this repository, for its calibration. Such a corpus is
 * one program: `node PROGRAM --fault NAME --port N --secret S --api-key K` serves POST /hooks.
 *
 *     npm run proofs -- diagnosis-corpus --program PROGRAM --truth FILE
 *
 * FILE is JSON: for each fault of the corpus, the acceptable names of the dictionary, of which there may be none.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadDictionary } from '../../../harness/diagnose/index.ts';
import { run } from '../../../harness/run/index.ts';
import { calibrationTable, type DiagnosisVerdict, equality, verdictOn } from './figures.ts';
import { mainOf } from './play.ts';

const { values } = parseArgs({ options: { program: { type: 'string' }, truth: { type: 'string' } } });
const { program, truth: truthFile } = values;
if (program === undefined || truthFile === undefined) throw new Error('--program and --truth are required');
const truth = JSON.parse(readFileSync(truthFile, 'utf8')) as Readonly<Record<string, readonly string[]>>;
const same = equality(await loadDictionary());

async function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

function unusedPort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

async function play(fault: string) {
  const port = await unusedPort();
  const credentials = { secret: randomBytes(32).toString('base64'), apiKey: randomBytes(24).toString('base64url') };
  const { secret, apiKey } = credentials;
  const options = ['--fault', fault, '--port', `${port}`, '--secret', secret, '--api-key', apiKey];
  const receiver = spawn(process.execPath, [program ?? '', ...options], { stdio: 'ignore' });
  try {
    for (let left = 200; left > 0 && !(await isListening(port)); left--) await delay(50);
    const partner = { url: `http://127.0.0.1:${port}/hooks`, signing: { secret }, apiKey: { value: apiKey } };
    return await run({ partner, limits: { timeoutMs: 4000, recoveryMs: 3000 } });
  } finally {
    receiver.kill('SIGKILL');
  }
}

const measured: { posterior: number | null; verdict: DiagnosisVerdict }[] = [];
let silent = 0;
for (const [fault, acceptable] of Object.entries(truth)) {
  const document = await play(fault);
  if (document.counts.fail + document.counts.warn === 0) {
    silent++;
    continue;
  }
  const main = mainOf(document);
  const diagnosed = document.diagnosis.map(({ fault: name, alike }) => [name, ...alike]);
  const verdict = verdictOn({ diagnosed, main }, acceptable, same);
  measured.push({ posterior: main.posterior, verdict });
  const said = main.candidates.length > 0 ? main.candidates.join(', ') : (diagnosed[0]?.[0] ?? 'nothing');
  process.stdout.write(`${verdict.padEnd(10)} ${fault}: ${said}\n`);
}
for (const wanted of ['correct', 'candidates', 'not known', 'wrong']) {
  process.stdout.write(`${wanted}: ${measured.filter(({ verdict }) => verdict === wanted).length}\n`);
}
process.stdout.write(`no failure and no warning: ${silent}\n\n${calibrationTable(measured)}\n`);
