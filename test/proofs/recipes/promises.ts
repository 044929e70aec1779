/**
 * The promises of every recipe, as attacks on a running copy. Each attack returns whether the promise held, and the
 * figure for docs/recipes.md. The first five concern the journal, and the others what an attacker without credentials
 * can do.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Stack, titleOfStack } from '../../../contract/index.ts';
import { copyRecipe, type RecipeProcess, removeCopy, startRecipe } from '../../recipes/recipe-process.ts';
import { lacks } from '../../setup/programs.ts';
import { seededRandom } from '../../setup/seeded-random.ts';
import { type Delivery, notification, SECRET } from '../durability/deliveries.ts';
import { openSmallDisk } from '../durability/failures.ts';
import { runNginx } from '../tls-matrix/nginx.ts';
import { killRecipe } from './kill-rounds.ts';

export interface Outcome {
  readonly holds: boolean;
  /** True if the answers came too late, which a busy machine can cause as well. */
  readonly isLate?: boolean;
  /** A few words with the measured figures. */
  readonly figure: string;
}

export interface RecipePromise {
  readonly name: string;
  /** The attack on the recipe, for the document. */
  readonly what: string;
  /** Set if the attack takes a minute or more. It then runs only in `npm run proofs -- recipes`. */
  readonly long?: true;
  readonly attack: (stack: Stack) => Promise<Outcome>;
}

const MIB = 1024 * 1024;
/** Maximum memory of an attack in addition to that of the idle process, in megabytes. */
const MAX_GROWTH_MB = 100;
/**
 * Maximum time until a valid delivery is answered during an attack, in milliseconds. It includes delays of a busy
 * machine.
 */
const MAX_ANSWER_MS = 5_000;

/**
 * Returns whether several processes share a journal. PHP starts a process for each delivery; all others have one
 * process.
 */
const sharesJournal = (stack: Stack) => titleOfStack(stack).language === 'PHP';

interface Rig {
  readonly folder: string;
  readonly start: (journal?: string) => Promise<RecipeProcess>;
  /** Returns the ids in the journal, in order. */
  readonly stored: (journal?: string) => string[];
}

async function onCopy(stack: Stack, attack: (rig: Rig) => Promise<Outcome>): Promise<Outcome> {
  const folder = copyRecipe(stack);
  const started: RecipeProcess[] = [];
  try {
    return await attack({
      folder,
      async start(journal) {
        const recipe = await startRecipe(stack, { folder, secret: SECRET, ...(journal && { journal }) });
        started.push(recipe);
        return recipe;
      },
      stored: (journal) => linesOf(folder, journal).map((line) => (JSON.parse(line) as { id: string }).id),
    });
  } finally {
    await Promise.all(started.map(({ kill }) => kill()));
    removeCopy(folder);
  }
}

const journalIn = (folder: string) => join(folder, 'journal.ndjson');
const linesOf = (folder: string, journal = journalIn(folder)) => readFileSync(journal, 'utf8').split('\n').slice(0, -1);

let made = 0;

function fresh(): Delivery {
  made += 1;
  return notification(`promise-${made}`, `t-${made}`, 1_700_000_000 + made);
}

/**
 * Delivers, and returns the status of the answer. 0 if the connection ended without one, or if it took too long. Like
 * every sender, it repeats the delivery once, because a server may close a kept connection just when it is used.
 */
async function deliver(url: string, { body, signature }: Delivery): Promise<number> {
  const headers = { 'Content-Type': 'application/json', 'X-Service-Signature': signature };
  const post = () => fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(30_000) });
  return post()
    .catch(post)
    .then(
      ({ status }) => status,
      () => 0,
    );
}

/** Delivers this many notifications in sequence, and returns the ids that were acknowledged. */
async function deliverMany(url: string, count: number): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const delivery = fresh();
    if ((await deliver(url, delivery)) === 200) acknowledged.push(delivery.id);
  }
  return acknowledged;
}

/** Returns the number of acknowledged ids that are not in the journal exactly once. */
function damage(acknowledged: readonly string[], stored: readonly string[]): number {
  const times = new Map<string, number>();
  for (const id of stored) times.set(id, (times.get(id) ?? 0) + 1);
  return acknowledged.filter((id) => times.get(id) !== 1).length;
}

/**
 * Starts a second process on the same journal. Returns null if it refuses to start and states the reason, otherwise the
 * process.
 */
async function startSecond({ start }: Rig): Promise<RecipeProcess | null> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof Error && /in use/.test(error.message)) return null;
    throw error;
  }
}

async function rollingUpdate(stack: Stack): Promise<Outcome> {
  return onCopy(stack, async (rig) => {
    const old = await rig.start();
    const acknowledged = await deliverMany(old.url, 50);
    const early = await startSecond(rig);
    acknowledged.push(...(await deliverMany(old.url, 25)));
    if (early !== null) acknowledged.push(...(await deliverMany(early.url, 25)));
    await old.kill();
    const next = early ?? (await rig.start());
    acknowledged.push(...(await deliverMany(next.url, 50)));
    const lost = damage(acknowledged, rig.stored());
    const isExpected = (early === null) === !sharesJournal(stack);
    return {
      holds: lost === 0 && acknowledged.length >= 125 && isExpected,
      figure:
        `${acknowledged.length} acknowledged, ${lost} lost; ` +
        `the second process ${early === null ? 'is refused' : 'shares'}`,
    };
  });
}

/** Delivers to two processes in turn, if two can start at all. */
async function twoProcesses(stack: Stack): Promise<Outcome> {
  return onCopy(stack, async (rig) => {
    const first = await rig.start();
    const before = await deliverMany(first.url, 5);
    const second = await startSecond(rig);
    const acknowledged = [...before];
    for (let n = 0; n < 30; n += 1)
      acknowledged.push(...(await deliverMany((n % 2 === 0 ? first : (second ?? first)).url, 1)));
    const lost = damage(acknowledged, rig.stored());
    return {
      holds: lost === 0 && acknowledged.length === 35 && (second === null) === !sharesJournal(stack),
      figure: `${acknowledged.length} acknowledged, ${lost} lost`,
    };
  });
}

async function killed(stack: Stack): Promise<Outcome> {
  const { acknowledged, lost, storedTwice } = await killRecipe({ stack, rounds: 3, seed: 5, connections: 16 });
  return {
    holds: lost + storedTwice === 0 && acknowledged > 20,
    figure: `${acknowledged} acknowledged, ${lost} lost, ${storedTwice} twice`,
  };
}

/**
 * Fills the disk of the journal, frees space, and starts the recipe again. Notifications that could not be stored must
 * never be acknowledged.
 */
async function fullDisk(stack: Stack): Promise<Outcome> {
  return onCopy(stack, async (rig) => {
    const disk = openSmallDisk(rig.folder);
    try {
      if (disk.commandPrefix.length > 0) return { holds: false, figure: 'not run: nothing can be mounted here' };
      const journal = join(disk.path, 'journal.ndjson');
      const first = await rig.start(journal);
      const acknowledged = await deliverMany(first.url, 5);
      disk.fill(first.pid);
      const late = Array.from({ length: 20 }, fresh);
      const full: number[] = [];
      for (const delivery of late) {
        // A few notifications fit into the last block.
        const status = await deliver(first.url, delivery);
        if (status === 200) acknowledged.push(delivery.id);
        else full.push(status, await deliver(first.url, delivery));
      }
      disk.empty(first.pid);
      const after = await Promise.all(late.map((delivery) => deliver(first.url, delivery)));
      await first.kill();
      const again = await rig.start(journal);
      acknowledged.push(...late.map(({ id }) => id), ...(await deliverMany(again.url, 5)));
      const lost = damage([...new Set(acknowledged)], rig.stored(journal));
      const isRefused = full.length > 0 && full.every((status) => status === 503);
      return {
        holds: isRefused && after.every((status) => status === 200) && lost === 0 && acknowledged.length >= 30,
        figure: `${full.length} times ${[...new Set(full)].join(', ')}; 20 of 20 after space; ${lost} lost`,
      };
    } finally {
      disk.remove();
    }
  });
}

/** Removes the journal and puts it back, and then replaces it with another file. */
async function removedFile(stack: Stack): Promise<Outcome> {
  return onCopy(stack, async (rig) => {
    const { url } = await rig.start();
    const journal = journalIn(rig.folder);
    const first = fresh();
    const statuses = [await deliver(url, first)];
    renameSync(journal, `${journal}.away`);
    const gone = [await deliver(url, fresh()), await deliver(url, first)];
    writeFileSync(journal, '');
    const replaced = [await deliver(url, fresh()), await deliver(url, first)];
    renameSync(`${journal}.away`, journal);
    const back = fresh();
    statuses.push(await deliver(url, back), await deliver(url, first));
    const isRight =
      [...gone, ...replaced].every((status) => status === 503) && statuses.every((status) => status === 200);
    const stored = rig.stored();
    return {
      holds: isRight && damage([first.id, back.id], stored) === 0 && stored.length === 2,
      figure: `removed ${gone.join(', ')}; replaced ${replaced.join(', ')}; back ${statuses.slice(1).join(', ')}`,
    };
  });
}

const HUGE_BYTES = 540 * MIB;

/**
 * Starts the recipe with a journal of 540 MB. Its memory must be bounded, and it must know the first and the last
 * notification.
 */
async function hugeJournal(stack: Stack): Promise<Outcome> {
  return onCopy(stack, async (rig) => {
    const one = await rig.start();
    const [first, last] = [fresh(), fresh()];
    await deliver(one.url, first);
    await deliver(one.url, last);
    await one.kill();
    const [head = '', tail = ''] = linesOf(rig.folder);
    const stream = createWriteStream(journalIn(rig.folder));
    const copies = Math.floor(HUGE_BYTES / (head.length + 10));
    stream.write(`${head}\n`);
    for (let n = 0; n < copies; n += 1) {
      if (!stream.write(`${head.replaceAll(first.id, `filler-${n}`)}\n`)) await once(stream, 'drain');
    }
    stream.end(`${tail}\n`);
    await once(stream, 'close');
    const startedAt = performance.now();
    const again = await rig.start();
    const seconds = (performance.now() - startedAt) / 1000;
    const statuses = [
      await deliver(again.url, first),
      await deliver(again.url, last),
      await deliver(again.url, fresh()),
    ];
    const peak = peakMb(again.pid);
    return {
      holds: statuses.every((status) => status === 200),
      figure: `${copies + 2} notifications: starts in ${seconds.toFixed(1)} s, ${peak} MB`,
    };
  });
}

/** Stacks whose server buffers a whole body, in memory or on disk, before the receiver sees it. */
const LEFT_TO_NGINX: readonly string[] = ['php', 'laravel', 'ruby', 'rails'];

/** The lines that their files recommend for nginx. */
const NGINX_LINES = 'client_max_body_size 1m; proxy_request_buffering on;';

/** Sends bodies of 200 MB. If the server itself has no limit, nginx is in front of it. */
async function hugeBodiesOf(stack: Stack): Promise<Outcome> {
  if (!LEFT_TO_NGINX.includes(stack)) return during(stack, hugeBodies);
  if (lacks('nginx')) return { holds: false, figure: 'not run: needs nginx in front, which is not installed' };
  const outcome = await during(stack, hugeBodies, async (url) => {
    const { host } = new URL(url);
    const { ports, close } = await runNginx(1, async ([port]) => {
      const location = `location / { proxy_pass http://${host}; proxy_http_version 1.1; proxy_set_header Host x; }`;
      return `server { listen 127.0.0.1:${port}; ${NGINX_LINES} ${location} }`;
    });
    return { url: `http://127.0.0.1:${ports[0]}/hooks`, close };
  });
  return { ...outcome, figure: `behind nginx: ${outcome.figure}` };
}

/** Attacks while valid deliveries arrive. Measures how they are answered and how much memory this takes. */
async function during(
  stack: Stack,
  attack: (port: number) => Promise<Socket[]>,
  behind: (url: string) => Promise<{ readonly url: string; readonly close: () => Promise<void> }> = async (url) => ({
    url,
    close: async () => {},
  }),
): Promise<Outcome> {
  return onCopy(stack, async (rig) => {
    const { url: ownUrl, pid } = await rig.start();
    const { url, close } = await behind(ownUrl);
    const acknowledged = await deliverMany(url, 5);
    const idle = peakMb(pid);
    const sockets = await attack(Number(new URL(url).port));
    let slowest = 0;
    const statuses = new Set<number>();
    for (let n = 0; n < 5; n += 1) {
      const startedAt = performance.now();
      const delivery = fresh();
      const status = await deliver(url, delivery);
      if (status === 200) acknowledged.push(delivery.id);
      statuses.add(status);
      slowest = Math.max(slowest, performance.now() - startedAt);
      await pause(100);
    }
    const growth = peakMb(pid) - idle;
    for (const socket of sockets) socket.destroy();
    await close();
    const isAnswered = statuses.size === 1 && statuses.has(200) && damage(acknowledged, rig.stored()) === 0;
    return {
      holds: isAnswered && growth < MAX_GROWTH_MB,
      isLate: slowest >= MAX_ANSWER_MS,
      figure:
        `${isAnswered ? 'answered' : `answered ${[...statuses].join(', ')}`} in ${Math.round(slowest)} ms, ` +
        `+${Math.max(0, growth)} MB`,
    };
  });
}

async function opened(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return socket;
}

/** Writes for as long as the other side reads, but at most `maxMs` milliseconds. */
function flood(socket: Socket, piece: Buffer, times: number, maxMs: number): Promise<void> {
  return new Promise((resolve) => {
    let written = 0;
    const write = () => {
      while (written < times && !socket.destroyed) {
        written += 1;
        if (!socket.write(piece)) return;
      }
      resolve();
    };
    socket.on('drain', write).once('close', () => resolve());
    setTimeout(resolve, maxMs).unref();
    write();
  });
}

const POST = 'POST /hooks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
const FALSE_SIGNATURE = `X-Service-Signature: ${createHmac('sha256', 'another').update('').digest('base64')}\r\n`;

const tinyChunks = (port: number) =>
  Promise.all(
    Array.from({ length: 6 }, async () => {
      const socket = await opened(port);
      socket.write(`${POST}${FALSE_SIGNATURE}Transfer-Encoding: chunked\r\n\r\n`);
      await flood(socket, Buffer.from('1\r\nx\r\n'.repeat(16_384)), 64, 20_000);
      return socket;
    }),
  );

const hugeBodies = (port: number) =>
  Promise.all(
    ['Content-Length: 209715200\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n'].map(async (framing) => {
      const socket = await opened(port);
      socket.write(`${POST}${FALSE_SIGNATURE}${framing}`);
      const block = Buffer.alloc(MIB, 'x');
      const piece = framing.startsWith('T')
        ? Buffer.concat([Buffer.from('100000\r\n'), block, Buffer.from('\r\n')])
        : block;
      await flood(socket, piece, 200, 20_000);
      return socket;
    }),
  );

const BEGINNINGS = ['', `${POST}X-Drip: `, `${POST}${FALSE_SIGNATURE}Content-Length: 100000\r\n\r\n`];

const silentClients = (port: number) =>
  Promise.all(
    Array.from({ length: 200 }, async (_, at) => {
      const socket = await opened(port);
      const beginning = BEGINNINGS[at % BEGINNINGS.length] ?? '';
      if (beginning !== '') socket.write(beginning);
      return socket;
    }),
  );

/**
 * Returns requests with one defect each, in the head, framing, length or body. They are random, but the same in every
 * run.
 */
function malformedRequests(): Buffer[] {
  const random = seededRandom(7);
  const valid = `${POST}Content-Length: 2\r\n\r\n{}`;
  const broken = [
    `${POST}Content-Length: ${'9'.repeat(5000)}\r\n\r\n{}`,
    `${POST}Content-Length: -1\r\n\r\n{}`,
    `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`,
    `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `${POST}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    `${POST}X-Long: ${'a'.repeat(70_000)}\r\n\r\n`,
    `POST /hooks HTTP/9.9\r\n\r\n`,
    `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03`,
    `${POST}no colon\r\nContent-Length: 0\r\n\r\n`,
    `POST /${'%00'.repeat(200)} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`,
  ];
  const edited = Array.from({ length: 90 }, () => {
    const bytes = Buffer.from(valid);
    bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
    return bytes;
  });
  return [...broken.map((text) => Buffer.from(text, 'latin1')), ...edited];
}

/** Sends bytes, and returns the status of the answer. 0 if the connection is closed or silent. */
async function statusOf(port: number, bytes: Buffer): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('error', () => {});
  socket.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
  });
  socket.end(bytes);
  await Promise.race([once(socket, 'close'), pause(5_000)]).catch(() => {});
  socket.destroy();
  return Number(/^HTTP\/1\.\d (\d{3})/.exec(text)?.[1] ?? 0);
}

async function malformed(stack: Stack): Promise<Outcome> {
  return onCopy(stack, async (rig) => {
    const { url } = await rig.start();
    const port = Number(new URL(url).port);
    const statuses: number[] = [];
    for (const bytes of malformedRequests()) statuses.push(await statusOf(port, bytes));
    const wrong = statuses.filter((status) => status === 200 || (status >= 500 && status !== 501 && status !== 505));
    const after = await deliver(url, fresh());
    return {
      holds: wrong.length === 0 && after === 200,
      figure:
        `${statuses.filter((status) => status >= 400).length} refused, ` +
        `${statuses.filter((status) => status === 0).length} closed, ${wrong.length} wrong; then ${after}`,
    };
  });
}

/** Returns the total peak memory of the processes in a group, in megabytes. Linux only. */
function peakMb(group: number): number {
  let kilobytes = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      // The name of the program, in parentheses, may contain spaces.
      const [, , groupId] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (Number(groupId) !== group) continue;
      kilobytes += Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1] ?? 0);
    } catch {
      // The process has ended.
    }
  }
  return Math.round(kilobytes / 1024);
}

/** The promises, in the order of docs/recipes.md. */
export const PROMISES: readonly RecipePromise[] = [
  {
    name: 'rolling-update',
    what: 'a second process starts on the journal while the first one works',
    attack: rollingUpdate,
  },
  { name: 'two-processes', what: 'two processes on one journal get deliveries in turn', attack: twoProcesses },
  { name: 'kill', what: '`kill -9` under load', attack: killed },
  { name: 'full-disk', what: 'the disk of the journal is full, then has space again', attack: fullDisk },
  { name: 'removed', what: 'the journal is removed, replaced, and put back', attack: removedFile },
  { name: 'huge-journal', what: 'starts with a journal of 540 MB', long: true, attack: hugeJournal },
  { name: 'tiny-chunks', what: 'six bodies in chunks of one byte', attack: (stack) => during(stack, tinyChunks) },
  {
    name: 'silent',
    what: '200 clients that send nothing, half a head or half a body',
    attack: (stack) => during(stack, silentClients),
  },
  {
    name: 'huge-bodies',
    what: 'bodies of 200 MB, with a length and in chunks',
    attack: hugeBodiesOf,
  },
  { name: 'malformed', what: '100 malformed requests', attack: malformed },
];

/** Plays an attack. An attack that could not be completed, or late answers, have not shown that the promise holds. */
export async function played({ attack }: RecipePromise, stack: Stack): Promise<Outcome> {
  try {
    const { holds, isLate, figure } = await attack(stack);
    return { holds: holds && isLate !== true, figure };
  } catch (error) {
    return { holds: false, figure: (error as Error).message.split('\n')[0] ?? '' };
  }
}
