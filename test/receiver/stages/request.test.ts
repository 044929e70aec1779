import { EventEmitter } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createBudget, type DropReason, resolveLimits, type ServerLimits } from '../../../receiver/budget.ts';
import { readBody } from '../../../receiver/stages/request.ts';

const MIB = 1024 * 1024;
const NO_LIMIT = 2 ** 31 - 1;

/** Creates a budget that records its reports. */
function budgetFor(limits: ServerLimits = { maxSmallChunks: NO_LIMIT }) {
  const seen = { bytes: 0, dropped: [] as DropReason[] };
  const budget = createBudget(resolveLimits(limits), {
    opened() {},
    closed() {},
    refused() {},
    dropped: (why) => void seen.dropped.push(why),
    uploading(bytes) {
      seen.bytes = bytes;
    },
  });
  return { budget, seen };
}

/** Runs the stage on a request whose chunks the test sends. */
function reading(limit: number, headers: Record<string, string> = {}, { budget } = budgetFor(), socket = {}) {
  const state = { headers, readableDidRead: false, readableEnded: false, socket, closed: false };
  const req = Object.assign(new EventEmitter(), state, {
    destroy() {
      req.closed = true;
      req.emit('close');
    },
  });
  const locals: { rawBody?: Buffer; reason?: string } = {};
  const res = Object.assign(new EventEmitter(), { locals, statusCode: 0, writeHead() {}, end() {} });
  void readBody(limit, budget)(req as never, res as never, () => {});
  return {
    isClosed: () => req.closed,
    reason: () => locals.reason,
    send: (chunk: Buffer) => req.emit('data', chunk),
    end(): Buffer | undefined {
      req.emit('end');
      return locals.rawBody;
    },
    answer(status: number) {
      res.statusCode = status;
      res.emit('close');
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

describe('the budget of uploads', () => {
  const half = Buffer.alloc(MIB / 2);

  it('closes the slowest upload when it is full, and counts nothing for bodies in one chunk', () => {
    const { budget, seen } = budgetFor({ maxUploadBytes: MIB });
    const whole = reading(MIB, { 'content-length': String(half.length) }, { budget, seen });
    whole.send(half);
    expect(seen.bytes).toBe(0);
    const slow = reading(MIB, { 'content-length': String(MIB) }, { budget, seen });
    slow.send(Buffer.alloc(10_000));
    const fast = reading(MIB, { 'content-length': String(MIB) }, { budget, seen });
    fast.send(half);
    expect(seen.bytes).toBe(MIB / 2 + 10_000);
    fast.send(half);
    expect([slow.isClosed(), slow.reason(), fast.isClosed()]).toEqual([true, 'slow-upload', false]);
    expect(seen).toEqual({ bytes: MIB, dropped: ['slow-upload'] });
    expect(fast.end()).toHaveLength(MIB);
    expect(seen.bytes).toBe(0);
  });

  it('is free again when an upload ends, whatever way', () => {
    const { budget, seen } = budgetFor();
    const begun = Array.from({ length: 3 }, () => reading(MIB, {}, { budget, seen }));
    for (const one of begun) one.send(half);
    expect(seen.bytes).toBe(3 * half.length);
    begun[0]?.end();
    begun[1]?.send(Buffer.alloc(MIB));
    expect(seen.bytes).toBe(half.length);
    begun[2]?.send(Buffer.alloc(18 * MIB));
    expect(seen).toEqual({ bytes: 0, dropped: [] });
  });
});

describe('small chunks', () => {
  it.each([
    ['rejected', 401, true],
    ['accepted', 200, false],
  ])('of %s deliveries count for the rest of the connection: %i', (_, status, closed) => {
    const held = budgetFor({ maxSmallChunks: 100 });
    const socket = {};
    for (let delivery = 0; delivery < 3 && !held.seen.dropped.includes('small-chunks'); delivery += 1) {
      const body = reading(MIB, {}, held, socket);
      for (let sent = 0; sent < 60 && !body.isClosed(); sent += 1) body.send(Buffer.from('x'));
      if (body.isClosed()) continue;
      expect(body.end()).toHaveLength(60);
      body.answer(status);
    }
    expect(held.seen.dropped).toEqual(closed ? ['small-chunks'] : []);
  });

  it('do not count from 256 bytes on', () => {
    const held = budgetFor({ maxSmallChunks: 1 });
    const body = reading(MIB, {}, held);
    for (let sent = 0; sent < 10; sent += 1) body.send(Buffer.alloc(256));
    expect([body.end()?.length, held.seen.dropped]).toEqual([2560, []]);
  });
});
