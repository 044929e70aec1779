import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { createEventStreams } from '../../../receiver/inspector/event-streams.ts';
import { createMasker } from '../../../receiver/inspector/masking.ts';
import { createRecorder } from '../../../receiver/inspector/recorder.ts';
import { createSummariser } from '../../../receiver/inspector/summary.ts';
import { deliveriesIn, eventsIn, reportOf } from './inspected.ts';

const numbers = (recorder: ReturnType<typeof createRecorder>) => Array.from(recorder.all(), ({ number }) => number);

describe('the recorder', () => {
  it('keeps the last deliveries up to a number', () => {
    const recorder = createRecorder({ maxDeliveries: 3 });
    for (let count = 0; count < 5; count++) recorder.observe(reportOf());
    expect([numbers(recorder), recorder.oldest(), recorder.newest()]).toEqual([[3, 4, 5], 3, 5]);
    expect([recorder.get(2), recorder.get(5)?.number]).toEqual([undefined, 5]);
  });

  it('keeps the last deliveries up to a size that includes headers', () => {
    const recorder = createRecorder({ maxBytes: 10_000 });
    for (let count = 0; count < 4; count++) recorder.observe(reportOf({ rawBody: Buffer.alloc(3000) }));
    expect(numbers(recorder)).toEqual([3, 4]);
    recorder.observe(reportOf({ headers: ['X-Long', 'x'.repeat(8000)] }));
    expect(numbers(recorder)).toEqual([5]);
  });

  it('keeps no body that is larger than its limit', () => {
    const recorder = createRecorder({ maxBytes: 5000 });
    recorder.observe(reportOf({ rawBody: Buffer.alloc(6000) }));
    expect(recorder.get(1)).toMatchObject({ rawBody: undefined, bodyLength: 6000 });
  });

  it('resolves only its own ids', () => {
    const [one, other] = [createRecorder(), createRecorder()];
    one.observe(reportOf());
    const id = one.idOf(one.get(1)!);
    expect([one.numberOf(id), other.numberOf(id), one.numberOf('x'), one.numberOf(`${id}x`)]).toEqual([
      1,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('summarises a refused delivery with the ids of its body, cut and masked', () => {
    const recorder = createRecorder();
    const summarise = createSummariser(recorder, createMasker(['my-secret']));
    const body = { id: 'x'.repeat(500), data: { transactionId: 'a my-secret b' } };
    recorder.observe(reportOf({ rawBody: Buffer.from(JSON.stringify(body)) }));
    recorder.observe(reportOf({ rawBody: Buffer.from('{"id":7,"data":null}'), reason: 'inbox failed: my-secret' }));
    expect(summarise(recorder.get(1)!)).toMatchObject({
      outcome: 'refused',
      notificationId: 'x'.repeat(200),
      transactionId: 'a [***] b',
      claimed: true,
      size: Buffer.byteLength(JSON.stringify(body)),
    });
    expect(summarise(recorder.get(2)!)).toMatchObject({ notificationId: undefined, reason: 'inbox failed: [***]' });
  });
});

describe('the event streams', () => {
  const often = { interval: 2, timeout: 120_000 };

  function opened(options: Parameters<typeof createEventStreams>[2] = {}, maxDeliveries = 500) {
    const recorder = createRecorder({ maxDeliveries });
    const summarise = createSummariser(recorder, createMasker([]));
    const streams = createEventStreams(recorder, summarise, { paceMs: 5, ...options });
    const open = (after?: string, { reads = true } = {}) => {
      const sink = new PassThrough({ highWaterMark: 2000 });
      let text = '';
      const read = () => sink.on('data', (data) => (text += data));
      if (reads) read();
      const isOpen = streams.open(sink as unknown as ServerResponse, after);
      return { sink, read, isOpen, events: () => eventsIn(text) };
    };
    const record = (count: number) => {
      for (let index = 0; index < count; index++) recorder.observe(reportOf());
    };
    return { recorder, streams, open, record };
  }

  it('send recorded and then new deliveries, each once and in order', async () => {
    const { open, record, streams } = opened();
    record(3);
    const stream = open();
    record(2);
    await vi.waitFor(
      () => expect(deliveriesIn(stream.events()).map(({ data }) => data.number)).toEqual([1, 2, 3, 4, 5]),
      120_000,
    );
    expect(stream.events()[0]).toMatchObject({ event: 'hello', data: { oldest: 1, maxDeliveries: 500 } });
    streams.close();
  });

  it('continue after an id, and start over after the id of another process', async () => {
    const { open, record, streams, recorder } = opened();
    record(4);
    const [known, other, ahead] = [open(`${recorder.instance}-3`), open('000000-3'), open(`${recorder.instance}-99`)];
    const numbersOf = (stream: ReturnType<typeof open>) => deliveriesIn(stream.events()).map(({ data }) => data.number);
    await vi.waitFor(
      () => expect([known, other, ahead].map(numbersOf)).toEqual([[4], [1, 2, 3, 4], [1, 2, 3, 4]]),
      120_000,
    );
    streams.close();
  });

  it('report how many deliveries were lost while no page was connected', async () => {
    const { open, record, streams, recorder } = opened({}, 10);
    record(5);
    const id = `${recorder.instance}-2`;
    record(20);
    const stream = open(id);
    await vi.waitFor(() => expect(deliveriesIn(stream.events())).toHaveLength(10), 120_000);
    expect(stream.events()[1]).toMatchObject({ event: 'gap', data: { lost: 13 } });
    streams.close();
  });

  it('buffer little for a page that does not read, delay no other stream, and report what was lost', async () => {
    const { open, record, streams } = opened({}, 100);
    const slow = open(undefined, { reads: false });
    const quick = open();
    let most = 0;
    for (let round = 1; round <= 20; round++) {
      record(50);
      const expected = round * 50;
      await vi.waitFor(() => expect(deliveriesIn(quick.events()).at(-1)?.data.number).toBe(expected), often);
      most = Math.max(most, slow.sink.writableLength + slow.sink.readableLength);
    }
    // The limit covers two buffers of 2000 bytes, and the events that exceeded them.
    expect(most).toBeLessThan(6000);
    expect(quick.events().some(({ event }) => event === 'gap')).toBe(false);
    slow.read();
    await vi.waitFor(() => expect(deliveriesIn(slow.events()).at(-1)?.data.number).toBe(1000), 120_000);
    const seen = deliveriesIn(slow.events()).map(({ data }) => data.number);
    const lost = slow.events().flatMap(({ event, data }) => (event === 'gap' ? [data.lost] : []));
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
    expect(lost.reduce((sum, count) => sum + count, 0)).toBe(1000 - seen.length);
    streams.close();
  });

  it('are limited in number, send pings, and end when they are not read', async () => {
    const { open, record, streams } = opened({ maxStreams: 2, pingMs: 5, stalledMs: 20 });
    const [one, stalled, third] = [open(), open(undefined, { reads: false }), open()];
    expect([one.isOpen, stalled.isOpen, third.isOpen]).toEqual([true, true, false]);
    await vi.waitFor(() => expect(one.events().some(({ event }) => event === 'ping')).toBe(true), 120_000);
    record(100);
    await vi.waitFor(() => expect(stalled.sink.destroyed).toBe(true), 120_000);
    await vi.waitFor(() => expect(open().isOpen).toBe(true), 120_000);
    expect(one.sink.destroyed).toBe(false);
    streams.close();
  });
});
