/** Endpoints whose bodies are endless, have a false length, or are larger than they seem. */
import { gzipSync } from 'node:zlib';
import { answer, type Behaviour, flood, onConnection, onRequest, onRequests } from '../behaviour.ts';

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const lying = (length: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n{"ok":true}`;
/** Compresses 20 MB of zeros, which are about 20 kB on the wire. */
const bomb = () => gzipSync(Buffer.alloc(20 * 1024 * 1024), { level: 9 });

/** After the head, sends the same bytes endlessly. */
function endless(name: string, what: string, head: string, piece: Buffer | string, pauseMs = 0): Behaviour {
  return onConnection(name, what, (socket) =>
    onRequests(socket, () => {
      socket.write(head);
      flood(socket, piece, pauseMs);
    }),
  );
}

export const BODIES: readonly Behaviour[] = [
  endless('endless-body', 'accepts with an endless body', 'HTTP/1.1 200 OK\r\n\r\n', Buffer.alloc(65_536, 'x')),
  endless(
    'drips-its-body',
    'accepts, and sends its body a byte every 50 ms',
    'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n',
    'x',
    50,
  ),
  endless('endless-chunks', 'accepts with endless chunks', CHUNKED, '4000\r\n'.concat('c'.repeat(0x4000), '\r\n')),
  endless('chunks-of-one-byte', 'accepts with endless chunks of one byte', CHUNKED, '1\r\nc\r\n'.repeat(2_000)),
  endless(
    'endless-chunk-extension',
    'accepts, and never ends the extension of a chunk',
    `${CHUNKED}1;`,
    'e'.repeat(4_096),
  ),
  endless(
    'chunk-extensions',
    'accepts with chunks whose extensions are 1,000 times as long',
    CHUNKED,
    `1;${'e'.repeat(1_000)}\r\nc\r\n`.repeat(8),
  ),
  endless(
    'chunk-size-of-zeros',
    'accepts, and writes the size of a chunk as endless zeros',
    CHUNKED,
    '0'.repeat(16_384),
  ),
  endless('endless-trailers', 'accepts with endless trailers', `${CHUNKED}0\r\n`, 'X-Trailer: t\r\n'.repeat(500)),
  onRequest('broken-chunks', 'accepts with an invalid chunk size', `${CHUNKED}zz\r\nbody\r\n0\r\n\r\n`),
  onRequest('chunk-of-exabytes', 'announces a chunk of 16 exabytes', `${CHUNKED}ffffffffffffffff\r\nbody`),
  onRequest('length-too-long', 'announces more bytes than it sends', lying('1000')),
  onRequest('length-too-short', 'sends more bytes than it announces', lying('2')),
  onRequest('length-negative', 'announces -1 bytes', lying('-1')),
  onRequest('length-of-exabytes', 'announces 18 exabytes', lying('18446744073709551616')),
  onRequest('two-lengths', 'announces two lengths', lying('2\r\nContent-Length: 11')),
  onRequest(
    'length-and-chunks',
    'announces a length and chunks, like request smuggling',
    `HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 500 No\r\n\r\n`,
  ),
  onRequest(
    'gzip-bomb',
    'accepts with 20 kB of gzip that decompress to 20 MB',
    answer(200, bomb(), ['Content-Encoding: gzip', 'Content-Type: application/json']),
  ),
  onRequest('bodies-of-60-kb', 'accepts everything with a body of 60 kB', answer(200, 'b'.repeat(60_000))),
  onRequest('bodies-of-3-mb', 'accepts everything with a body of 3 MB', answer(200, 'b'.repeat(3_000_000))),
  onRequest(
    'blank-lines-for-patterns',
    'accepts with 60 kB of line breaks, on which inefficient patterns take minutes',
    answer(200, '\n'.repeat(60_000)),
  ),
  onRequest(
    'almost-traces',
    'accepts with 60 kB of lines that nearly match a stack trace',
    answer(200, `\n at ${'a:1'.repeat(70)}`.repeat(280)),
  ),
  onRequest(
    'deep-json',
    'accepts with JSON of 30,000 brackets',
    answer(200, '['.repeat(30_000) + ']'.repeat(30_000), ['Content-Type: application/json']),
  ),
];
