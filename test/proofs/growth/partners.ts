/**
 * Measures how a fleet grows with the number of partners, how many workers suit this machine, and the cost of the steps
 * that grow with the whole list: reading the partners' files and joining the shards.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { CLI } from '../bench/processes.ts';
import { RIGHT } from '../fleet/kinds.ts';
import { startFleet, type TestFleet } from '../fleet/start-fleet.ts';
import { type Cost, cpuMsOf, measureProgram } from './process-cost.ts';
import { note } from './progress.ts';

const RECEIVER_PROCESSES = 2;
/** Maximum number of receivers per process, so that no process runs out of memory. */
const RECEIVERS_A_PROCESS = 250;
/** Ratio of the list of partners that is only read and checked to the largest fleet. */
const LONGER_LIST = 8;
/** Maximum duration of a fleet. A fleet that would take longer is replaced by a smaller one. */
const MAX_FLEET_MINUTES = 45;
const SIGNATURES = 2_000;

interface WithWorkers {
  readonly workers: number;
  readonly partners: number;
  readonly fleet: Cost;
  readonly receiversCpuMs: number;
}

interface FleetOf {
  readonly partners: number;
  /** Planned number of partners. Fewer are measured if they would take too long. */
  readonly planned: number;
  readonly fleet: Cost;
  readonly receiversCpuMs: number;
  /** Cost of joining the results, which verifies each certificate and copies each folder. */
  readonly merge: Cost;
  readonly disk: Disk;
  /** Size of each file about all partners, in bytes. */
  readonly summaries: Readonly<Record<(typeof SUMMARIES)[number], number>>;
}

interface Disk {
  readonly files: number;
  readonly bytes: number;
  /** Size of the files in whole blocks. */
  readonly allocatedBytes: number;
}

interface CheckOf {
  readonly partners: number;
  readonly check: Cost;
}

export interface PartnersMeasured {
  readonly workers: readonly WithWorkers[];
  readonly chosenWorkers: number;
  readonly fleets: readonly FleetOf[];
  readonly checks: readonly CheckOf[];
  /** Size of the file of one partner, without its secret. */
  readonly partnerFileBytes: number;
  /** Time for one Ed25519 signature of a certificate, in microseconds. */
  readonly signatureUs: number;
  readonly certificateBytes: number;
}

const SUMMARIES = ['fleet.json', 'fleet.html', 'fleet.csv'] as const;

interface Settings {
  /** The sizes of the fleets. */
  readonly counts: readonly number[];
  /** The numbers of workers that are compared. The fastest one is used for the fleets. */
  readonly workers: readonly number[];
  /** Number of partners in each fleet of that comparison. */
  readonly partnersForWorkers: number;
}

export async function measurePartners(settings: Settings): Promise<PartnersMeasured> {
  const folder = mkdtempSync(join(tmpdir(), 'hookproof-growth-'));
  try {
    const workers = await measureWorkers(folder, settings);
    const best = workers.reduce((a, b) => (b.fleet.wallMs < a.fleet.wallMs ? b : a));
    const fleets: FleetOf[] = [];
    const checks: CheckOf[] = [];
    let sample = { partnerFileBytes: 0, certificateBytes: 0 };
    for (const planned of settings.counts) {
      const partners = affordable(planned, fleets.at(-1));
      note(`${partners} partners: starting the receivers`);
      const place = join(folder, String(planned));
      const fleet = await startReceivers(place, partners);
      try {
        fleets.push(await measureFleet(place, fleet, partners, planned, best.workers));
        checks.push({ partners, check: await checkList(fleet, fleet.partners) });
        sample = sampleOf(fleet, join(place, 'certified'));
        if (planned === settings.counts.at(-1)) checks.push(await checkLongerList(place, fleet, partners));
      } finally {
        fleet.close();
      }
      rmSync(place, { recursive: true, force: true });
    }
    const signatureUs = timeSignature(sample.certificateBytes);
    return { workers, chosenWorkers: best.workers, fleets, checks, ...sample, signatureUs };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function startReceivers(place: string, partners: number): Promise<TestFleet> {
  mkdirSync(place, { recursive: true });
  const processes = Math.max(RECEIVER_PROCESSES, Math.ceil(partners / RECEIVERS_A_PROCESS));
  return startFleet(
    place,
    Array.from({ length: partners }, () => RIGHT),
    processes,
  );
}

/** Returns how many partners can be certified in time, estimated from the previous fleet. */
function affordable(planned: number, previous: FleetOf | undefined): number {
  if (previous === undefined) return planned;
  const minutes = (planned * previous.fleet.wallMs) / previous.partners / 60_000;
  note(`${planned} partners: about ${minutes.toFixed(1)} min`);
  if (minutes <= MAX_FLEET_MINUTES) return planned;
  return Math.max(previous.partners * 2, Math.floor((planned * MAX_FLEET_MINUTES) / minutes / 10) * 10);
}

async function measureWorkers(
  folder: string,
  { workers: numbers, partnersForWorkers: partners }: Settings,
): Promise<WithWorkers[]> {
  const place = join(folder, 'workers');
  const fleet = await startReceivers(place, partners);
  try {
    const rows: WithWorkers[] = [];
    for (const workers of numbers) {
      note(`${partners} partners with ${workers} workers`);
      const measured = await certify(fleet, join(place, `with-${workers}`), workers);
      rows.push({ workers, partners, ...measured });
    }
    return rows;
  } finally {
    fleet.close();
    rmSync(place, { recursive: true, force: true });
  }
}

/** Certifies the fleet as shard 1/1, so that its results can be joined. */
async function certify(fleet: TestFleet, output: string, workers: number) {
  const receivers = () => fleet.pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  const before = receivers();
  const cost = await measureProgram(
    [
      ...[CLI, 'certify', '--partners', fleet.partners, '--key', fleet.key, '--output-dir', output, '--shard', '1/1'],
      ...['--allow-private', 'localhost', '--per-host', String(workers), '--parallel', String(workers)],
    ],
    process.env,
  );
  return { fleet: cost, receiversCpuMs: receivers() - before };
}

async function measureFleet(
  place: string,
  fleet: TestFleet,
  partners: number,
  planned: number,
  workers: number,
): Promise<FleetOf> {
  note(`${partners} partners: certifying`);
  const output = join(place, 'certified');
  const measured = await certify(fleet, output, workers);
  note(`${partners} partners: ${(measured.fleet.wallMs / partners).toFixed(0)} ms each; joining`);
  const joined = join(place, 'joined');
  const publicKey = join(place, 'operator.pub.pem');
  const merge = await measureProgram(
    [CLI, 'certify', 'merge', output, '--key', publicKey, '--output-dir', joined],
    process.env,
  );
  const summaries = Object.fromEntries(SUMMARIES.map((name) => [name, statSync(join(output, name)).size]));
  return {
    partners,
    planned,
    ...measured,
    merge,
    disk: diskOf(output),
    summaries: summaries as FleetOf['summaries'],
  };
}

function diskOf(folder: string): Disk {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const stats = entries.map(({ parentPath, name }) => statSync(join(parentPath, name)));
  return {
    files: stats.length,
    bytes: stats.reduce((sum, { size }) => sum + size, 0),
    allocatedBytes: stats.reduce((sum, { blocks }) => sum + blocks * 512, 0),
  };
}

function checkList(fleet: TestFleet, list: string): Promise<Cost> {
  const args = [CLI, 'certify', '--partners', list, '--key', fleet.key, '--check', '--allow-private', 'localhost'];
  return measureProgram(args, process.env);
}

/**
 * Reads and checks a longer list, which contains each partner under several names. Nothing is sent, so this needs no
 * receivers.
 */
async function checkLongerList(place: string, fleet: TestFleet, partners: number): Promise<CheckOf> {
  const list = join(place, 'longer');
  cpSync(fleet.partners, list, { recursive: true });
  for (const name of namesIn(fleet)) {
    const settings = readFileSync(join(fleet.partners, `${name}.yaml`), 'utf8');
    const secret = readFileSync(join(fleet.partners, 'secrets', name));
    for (let copy = 1; copy < LONGER_LIST; copy++) {
      const copied = `copy${copy}-${name}`;
      writeFileSync(join(list, `${copied}.yaml`), settings.replace(`secrets/${name}`, `secrets/${copied}`));
      writeFileSync(join(list, 'secrets', copied), secret, { mode: 0o600 });
    }
  }
  note(`reading the files of ${partners * LONGER_LIST} partners`);
  return { partners: partners * LONGER_LIST, check: await checkList(fleet, list) };
}

function namesIn(fleet: TestFleet): string[] {
  return [...fleet.kindOf.keys()];
}

function sampleOf(fleet: TestFleet, output: string) {
  const [name = ''] = namesIn(fleet);
  return {
    partnerFileBytes: statSync(join(fleet.partners, `${name}.yaml`)).size,
    certificateBytes: statSync(join(output, name, 'certificate.dsse.json')).size,
  };
}

/** Returns the time for one signature with the type of key that signs certificates, in microseconds. */
function timeSignature(bytes: number): number {
  const { privateKey } = generateKeyPairSync('ed25519');
  const statement = Buffer.alloc(bytes, 'x');
  const startedAt = performance.now();
  for (let count = 0; count < SIGNATURES; count++) sign(null, statement, privateKey);
  return ((performance.now() - startedAt) * 1000) / SIGNATURES;
}
