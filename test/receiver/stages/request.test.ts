import { EventEmitter } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { readBody } from '../../../receiver/stages/request.ts';

const MIB = 1024 * 1024;

/** Runs the stage on a request whose chunks the test sends. */
function reading(limit: number, headers: Record<string, string> = {}) {
  const req = Object.assign(new EventEmitter(), { headers, readableDidRead: false, readableEnded: false });
  const res = { locals: {} as { rawBody?: Buffer } };
  void readBody(limit)(req as never, res as never, () => {});
  return {
    send: (chunk: Buffer) => req.emit('data', chunk),
    end(): Buffer | undefined {
      req.emit('end');
      return res.locals.rawBody;
    },
  };
}

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

describe('reading a body', () => {
  it('keeps a million one-byte chunks in a few megabytes', () => {
    const source = Buffer.from('0123456789'.repeat(MIB / 10 + 1));
    const body = reading(MIB);
    const before = heapAfterCollection();
    for (let at = 0; at < MIB; at += 1) body.send(source.subarray(at, at + 1));
    // One Buffer object per chunk would take over 80 MiB.
    expect(heapAfterCollection() - before).toBeLessThan(16 * MIB);
    expect(body.end()?.equals(source.subarray(0, MIB))).toBe(true);
  });

  it.each([
    ['a Content-Length', { 'content-length': '20000' }],
    ['chunked encoding', {}],
  ])('joins chunks of any size, with %s', (_, headers: Record<string, string>) => {
    const source = Buffer.alloc(20_000, 'Zürich, ');
    const body = reading(MIB, headers);
    for (const [from, to] of [
      [0, 1],
      [1, 4096],
      [4096, 4097],
      [4097, 15_000],
      [15_000, 20_000],
    ]) {
      body.send(source.subarray(from, to));
    }
    expect(body.end()?.equals(source)).toBe(true);
    // The chunks belong to the connection and are not modified.
    expect(source.equals(Buffer.alloc(20_000, 'Zürich, '))).toBe(true);
  });

  it('does not copy a body that arrives in one chunk', () => {
    const chunk = Buffer.from('{}');
    const body = reading(MIB, { 'content-length': '2' });
    body.send(chunk);
    expect(body.end()).toBe(chunk);
  });

  it('returns an empty body when nothing arrives', () => {
    expect(reading(MIB).end()).toHaveLength(0);
  });
});
