/**
 * Attackers without credentials: each opens connections that use as many resources of the receiver as possible, and
 * reopens them when they are closed. Run by measure.ts in a separate process, which ends with its standard input.
 */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { pathToFileURL } from 'node:url';

export interface Attack {
  readonly name: string;
  readonly what: string;
  readonly connections: number;
  /** Flags of `hookproof receiver` that turn off the limit which stops the attack. */
  readonly without: readonly string[];
  /** Sends bytes for as long as the connection is open. */
  readonly send: (socket: Socket, nth: number) => void;
  /** Maximum memory of the receiver during the attack, in MB. Default: the usual limit. */
  readonly maxMb?: number;
  /** Set if the attacker does not read answers. */
  readonly deaf?: true;
}

const MIB = 1024 * 1024;
const NONE = String(2 ** 31 - 1);
const POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
/** A signature in the correct format, so that only a verification of the whole body can reject it. */
const FALSE_SIGNATURE = `X-Service-Signature: ${randomBytes(32).toString('base64')}\r\n`;

const ALMOST = Buffer.alloc(MIB - 1, 'x');
const WHOLE = Buffer.alloc(MIB, 'x');
const WHOLE_LENGTH = `Content-Length: ${MIB}\r\n\r\n`;
const SMALL_CHUNKS = Buffer.from('1\r\nx\r\n'.repeat(MIB / 16));
const TINY_REQUESTS = Buffer.from('POST / HTTP/1.1\r\nHost:\r\n\r\n'.repeat(2500));

/** Writes the pieces in turn, as fast as the other side reads. */
function flood(socket: Socket, pieces: readonly (string | Buffer)[]): void {
  let next = 0;
  const write = () => {
    while (!socket.destroyed && socket.writable) {
      const piece = pieces[next++ % pieces.length] ?? '';
      if (!socket.write(piece)) return;
    }
  };
  socket.on('drain', write);
  write();
}

function drip(socket: Socket, beginning: string): void {
  if (beginning === '') return;
  socket.write(beginning);
  const timer = setInterval(() => socket.write('a'), 1000);
  socket.once('close', () => clearInterval(timer));
}

const BEGINNINGS = [
  '',
  'POST / HTTP/1.1\r\nHost: x\r\nX-Drip: ',
  `${POST}${FALSE_SIGNATURE}Content-Length: 100000\r\n\r\n`,
];

export const ATTACKS: readonly Attack[] = [
  {
    name: 'half-open',
    what: 'nothing, a header or a body, byte by byte',
    connections: 2000,
    without: ['--max-connections', '1000000'],
    send: (socket, nth) => drip(socket, BEGINNINGS[nth % BEGINNINGS.length] ?? ''),
  },
  {
    name: 'one-byte-chunks',
    what: 'bodies of 1 MiB in chunks of one byte, with a false signature of the correct form',
    connections: 24,
    without: ['--max-small-chunks', NONE],
    send: (socket) =>
      flood(socket, [
        `${POST}${FALSE_SIGNATURE}Transfer-Encoding: chunked\r\n\r\n`,
        ...Array<Buffer>(16).fill(SMALL_CHUNKS),
        '0\r\n\r\n',
      ]),
  },
  {
    name: 'unfinished-unsigned',
    what: 'bodies one byte short of 1 MiB, without a signature',
    connections: 1000,
    without: ['--max-upload-bytes', NONE, '--inspect', '0'],
    send: (socket) => {
      socket.write(`${POST}Content-Length: ${MIB}\r\n\r\n`);
      socket.write(ALMOST);
    },
  },
  {
    name: 'unfinished-signed',
    what: 'bodies one byte short of 1 MiB, with a false signature of the correct form',
    connections: 1000,
    without: ['--max-upload-bytes', NONE],
    send: (socket) => {
      socket.write(`${POST}${FALSE_SIGNATURE}Content-Length: ${MIB}\r\n\r\n`);
      socket.write(ALMOST);
    },
  },
  {
    name: 'idle-bodies',
    what: 'one rejected body of 1 MiB each, one after the other, and then nothing',
    connections: 1000,
    maxMb: 150,
    without: [],
    send: (socket, nth) => {
      const write = () => socket.write(Buffer.concat([Buffer.from(`${POST}${FALSE_SIGNATURE}${WHOLE_LENGTH}`), WHOLE]));
      // Spreads the writes over the attack, so that no two coincide.
      const timer = setTimeout(write, 10 * nth);
      socket.once('close', () => clearTimeout(timer));
    },
  },
  {
    name: 'pipelines',
    what: 'requests of 26 bytes without a pause, and no answer is read',
    connections: 50,
    without: ['--max-pipelined', NONE, '--max-requests', NONE, '--write-timeout', '60m'],
    send: (socket) => flood(socket, [TINY_REQUESTS]),
    deaf: true,
  },
];

const REOPEN_MS = 1000;

/** Attacks until standard input ends, and then prints its counts as JSON. */
function attackForever(port: number, { connections, send, deaf }: Attack): void {
  const seen = { opened: 0, closedByReceiver: 0, failedToConnect: 0, statuses: {} as Record<string, number> };
  let over = false;

  function attack(nth: number): void {
    if (over) return;
    const socket = connect(port, '127.0.0.1');
    let connected = false;
    socket.on('connect', () => {
      connected = true;
      seen.opened += 1;
      send(socket, nth);
    });
    if (deaf) socket.pause();
    else {
      socket.on('data', (chunk) => {
        const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(chunk.toString('latin1')) ?? [];
        if (status !== undefined) seen.statuses[status] = (seen.statuses[status] ?? 0) + 1;
      });
    }
    socket.on('error', () => {});
    socket.on('close', () => {
      if (over) return;
      if (connected) seen.closedByReceiver += 1;
      else seen.failedToConnect += 1;
      setTimeout(() => attack(nth), REOPEN_MS);
    });
  }

  // Opens a few at a time, so that the kernel accepts them: this is a flood of connections, not of SYN packets.
  let started = 0;
  const starting = setInterval(() => {
    for (let some = 0; some < 50 && started < connections; some += 1) attack(started++);
    if (started >= connections) clearInterval(starting);
  }, 10);

  process.stdin.resume().once('end', () => {
    over = true;
    process.stdout.write(JSON.stringify(seen), () => process.exit(0));
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [port, name] = process.argv.slice(2);
  const attack = ATTACKS.find((one) => one.name === name);
  if (attack === undefined) throw new Error(`no attack is named "${name}"`);
  attackForever(Number(port), attack);
}
