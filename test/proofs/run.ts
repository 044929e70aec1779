/** `npm run proofs` lists the long measurements; `npm run proofs -- NAME [ARGUMENT...]` runs one. */
import { spawnSync } from 'node:child_process';

interface Proof {
  readonly name: string;
  readonly shows: string;
  /** Duration on two cores, in minutes. */
  readonly minutes: number;
  readonly command: readonly string[];
  /** Set if the measurement runs the compiled program, which is then built first. */
  readonly build?: true;
}

const script = (path: string) => ['tsx', path];
const PROOFS: readonly Proof[] = [
  {
    name: 'matrix',
    shows: 'every mutant is found, and no correct receiver raises an alarm; writes docs/kill-matrix.md',
    minutes: 12,
    command: ['npm', 'run', '--silent', 'matrix', '--'],
  },
  {
    name: 'correct',
    shows: 'no correct receiver gets a false alarm: on loopback, behind nginx, and with 0 to 200 ms of jitter',
    minutes: 15,
    command: script('test/proofs/matrix/correct-in-set-ups.ts'),
  },
  {
    name: 'tls-matrix',
    shows: 'the verdict on every faulty certificate and TLS server; writes docs/tls-matrix.md',
    minutes: 2,
    command: script('test/proofs/tls-matrix/write-document.ts'),
  },
  {
    name: 'effects',
    shows: 'evidence levels of stores, faulty receivers, recipes and certificates, with kills; writes docs/effects.md',
    minutes: 15,
    command: script('test/proofs/effects/write-document.ts'),
    build: true,
  },
  {
    name: 'held-out',
    shows: 'how often the diagnosis names a fault that is not in the dictionary; writes docs/diagnosis.md',
    minutes: 5,
    command: script('test/proofs/held-out/measure.ts'),
  },
  {
    name: 'blind',
    shows: 'the verdicts on faults whose authors did not know the catalogue; --set or --corpus',
    minutes: 12,
    command: script('test/proofs/blind/measure.ts'),
    build: true,
  },
  {
    name: 'transformations',
    shows: 'verify names each signing mistake of the vectors, and none for 200 foreign signatures',
    minutes: 1,
    command: script('test/proofs/transformations.ts'),
  },
  {
    name: 'stateful',
    shows: 'receivers that remember earlier requests get the same exit code in each of 20 runs',
    minutes: 10,
    command: script('test/proofs/stateful.ts'),
  },
  {
    name: 'durability',
    shows: 'kill -9, outages, replicas and a soak, on SQLite and PostgreSQL; writes docs/durability.md',
    minutes: 15,
    command: script('test/proofs/durability/write-document.ts'),
    build: true,
  },
  {
    name: 'brokers',
    shows: 'kill -9 of receivers and of NATS and RabbitMQ behind their sinks; writes a section of docs/durability.md',
    minutes: 15,
    command: script('test/proofs/brokers/write-document.ts'),
  },
  {
    name: 'recipes',
    shows: 'every receiver to copy passes the catalogue and keeps its promises; NAME...; writes docs/recipes.md',
    minutes: 30,
    command: script('test/proofs/recipes/write-document.ts'),
  },
  {
    name: 'promises',
    shows: 'attacks on receivers to copy, and whether each promise held; NAME... of stacks and promises',
    minutes: 15,
    command: script('test/proofs/recipes/show-promises.ts'),
  },
  {
    name: 'proxy',
    shows: '10,000 deliveries through the proxy: throughput, latency and memory; then hostile clients',
    minutes: 2,
    command: script('test/proofs/proxy-load.ts'),
    build: true,
  },
  {
    name: 'hostile',
    shows: 'endpoints that attack the run and its reports; writes docs/hostile-endpoints.md',
    minutes: 5,
    command: script('test/proofs/hostile/write-document.ts'),
    build: true,
  },
  {
    name: 'fuzz',
    shows: 'no input harms a parser of what others write; --minutes N, --seed N, --only NAME',
    minutes: 10,
    command: script('test/proofs/fuzz/fuzz.ts'),
  },
  {
    name: 'secrets',
    shows: 'no output shows a secret in any of 76 spellings, and without redaction each output shows all of them',
    minutes: 5,
    command: script('test/proofs/hostile/secrets.ts'),
    build: true,
  },
  {
    name: 'third-party',
    shows: 'runs against receivers made of published packages agree with a measurement; writes docs/third-party.md',
    minutes: 20,
    command: script('test/proofs/third-party/write-document.ts'),
    build: true,
  },
  {
    name: 'attacks',
    shows: 'valid deliveries are answered, in 250 MB, while others attack without credentials; --without-limits, NAME',
    minutes: 4,
    command: script('test/proofs/attacks/measure.ts'),
    build: true,
  },
  {
    name: 'attack-console',
    shows: 'the console and what operate reads refuse every attack, and builds without a defence do not; --only GROUP',
    minutes: 5,
    command: script('test/proofs/attacks/console/attack.ts'),
    build: true,
  },
  {
    name: 'fleet',
    shows: '300 partners, certified in one run and in shards',
    minutes: 15,
    command: script('test/proofs/fleet/measure.ts'),
    build: true,
  },
  {
    name: 'operator-page',
    shows: "every command of the operator's page, in one shell and in its order, with five partners and PostgreSQL",
    minutes: 1,
    command: ['vitest', 'run', '--project', 'proof', 'test/ci/operator-page.proof.test.ts'],
    build: true,
  },
  {
    name: 'register',
    shows: 'how fast 3,000 partners with 102,000 records are listed, in files and in PostgreSQL, and their page',
    minutes: 2,
    command: script('test/proofs/fleet/register.ts'),
    build: true,
  },
  {
    name: 'warm-worker',
    shows:
      'processor time that a worker of `certify --partners` needs for one more partner; --partners N, --old FOLDER',
    minutes: 1,
    command: script('test/proofs/fleet/warm-worker.ts'),
    build: true,
  },
  {
    name: 'containers',
    shows: 'the image and the manifests of docs/fleet, with podman on a base of Debian packages: from build to result',
    minutes: 4,
    command: script('test/proofs/containers/prove.ts'),
  },
  {
    name: 'executable',
    shows: 'the program for Linux that needs no Node: its size and start, whole runs, workers, recipes and exit codes',
    minutes: 1,
    command: script('test/proofs/executable.ts'),
  },
  {
    name: 'operate',
    shows:
      '200 partners and three workers that are killed, PostgreSQL restarted; then a year in fast motion; ' +
      '--only speed, kills or year, --partners N, --weeks N',
    minutes: 40,
    command: script('test/proofs/operate/measure.ts'),
    build: true,
  },
  {
    name: 'console',
    shows: 'how long each page of the console takes with 10,000 partners and 3.6 million records; --partners, --days',
    minutes: 15,
    command: script('test/proofs/console/measure.ts'),
  },
  {
    name: 'watch',
    shows: 'watch mode judges the code on disk after each edit, and how long it takes; takes the selection of a run',
    minutes: 1,
    command: script('test/proofs/watch/measure.ts'),
    build: true,
  },
  {
    name: 'tampering',
    shows: 'a certificate is rejected when any byte is changed to any other value',
    minutes: 3,
    command: script('test/proofs/tampering.ts'),
  },
  {
    name: 'mutation',
    shows: 'the tests of judge, sender, transport and verifier notice changed code; writes reports/mutation',
    minutes: 40,
    command: ['stryker', 'run'],
  },
  {
    name: 'pictures',
    shows: 'every page in a browser, dark and light, wide and on a phone, checked with axe; needs a FOLDER',
    minutes: 1,
    command: script('test/proofs/pictures.ts'),
    build: true,
  },
  {
    name: 'sender-soak',
    shows: 'a million deliveries to an endpoint that is slow, resets and hangs: none lost, memory flat; --deliveries N',
    minutes: 2,
    command: script('test/proofs/sender-soak.ts'),
  },
  {
    name: 'same-requests',
    shows: 'another checkout, FOLDER, sends the same requests, byte for byte but for ids and times',
    minutes: 1,
    command: script('test/proofs/same-requests.ts'),
    build: true,
  },
  {
    name: 'same-errors',
    shows: 'another checkout, FOLDER, sees the same transport errors at every hostile endpoint',
    minutes: 12,
    command: script('test/proofs/hostile/same-errors.ts'),
    build: true,
  },
  {
    name: 'growth',
    shows:
      'how time, memory and storage grow, when nothing else is running; --only PART, --quick; writes docs/growth.md',
    minutes: 60,
    command: script('test/proofs/growth/growth.ts'),
    build: true,
  },
  {
    name: 'bench',
    shows: 'ratios to bare node:http, when nothing else is running; writes docs/performance.md',
    minutes: 5,
    command: script('test/proofs/bench/bench.ts'),
    build: true,
  },
];

function list(): string {
  const width = Math.max(...PROOFS.map(({ name }) => name.length));
  const rows = PROOFS.map(
    ({ name, minutes, shows }) => `  ${name.padEnd(width)}  ${String(minutes).padStart(2)} min  ${shows}`,
  );
  return ['npm run proofs -- NAME [ARGUMENT...]', '', ...rows].join('\n');
}

function run({ command, build }: Proof, args: readonly string[]): number {
  // npm puts node_modules/.bin on the PATH.
  const start = ([program = '', ...words]: readonly string[]) =>
    spawnSync(program, words, { stdio: 'inherit' }).status ?? 1;
  const built = build === true ? start(['npm', 'run', '--silent', 'build']) : 0;
  return built === 0 ? start([...command, ...args]) : built;
}

const [name, ...args] = process.argv.slice(2);
const proof = PROOFS.find((one) => one.name === name);
if (proof !== undefined) process.exitCode = run(proof, args);
else {
  console.log(list());
  if (name !== undefined) {
    console.error(`\n"${name}": no such proof`);
    process.exitCode = 2;
  }
}
