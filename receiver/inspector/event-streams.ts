/**
 * Server-sent events for open pages. Every stream reads from the recorder instead of a separate queue, so a slow stream
 * uses no memory and delays no other.
 */
import type { ServerResponse } from 'node:http';
import type { Recorder } from './recorder.ts';
import type { Summarise } from './summary.ts';

export interface EventStreams {
  /**
   * Sends the deliveries after the one with the id `after`, and then every new one. If `after` is missing or belongs to
   * an earlier process, all kept deliveries are sent. Returns false when too many streams are open.
   */
  open(res: ServerResponse, after: string | undefined): boolean;
  close(): void;
}

interface Stream {
  readonly res: ServerResponse;
  /** Number of the next delivery to send. */
  next: number;
  /** Time at which the page stopped reading, in milliseconds. Undefined while it reads. */
  fullSince: number | undefined;
}

export interface StreamOptions {
  readonly maxStreams?: number;
  /** Interval between two rounds in which new events are sent, in milliseconds. */
  readonly paceMs?: number;
  /** Interval between two pings to keep a connection open, in milliseconds. */
  readonly pingMs?: number;
  /** Time after which a stream that the page does not read is closed, in milliseconds. */
  readonly stalledMs?: number;
  /** Returns the fields of the first event. */
  readonly hello?: () => object;
}

/** Maximum number of events that are sent to one stream in a round. */
const MAX_AT_ONCE = 200;

export function createEventStreams(
  recorder: Recorder,
  summarise: Summarise,
  options: StreamOptions = {},
): EventStreams {
  const { maxStreams = 20, paceMs = 100, pingMs = 15_000, stalledMs = 60_000, hello = () => ({}) } = options;
  const streams = new Set<Stream>();
  let scheduled: NodeJS.Timeout | undefined;
  let lastRound = 0;

  const round = () => {
    scheduled = undefined;
    lastRound = performance.now();
    for (const stream of streams) send(stream);
  };
  const schedule = () => {
    if (scheduled !== undefined || streams.size === 0) return;
    scheduled = setTimeout(round, Math.max(0, lastRound + paceMs - performance.now()));
  };
  const send = (stream: Stream) => {
    for (let sent = 0; sent < MAX_AT_ONCE && stream.fullSince === undefined; sent++) {
      if (stream.next > recorder.newest()) return;
      if (stream.next < recorder.oldest()) {
        // The recorder removed deliveries before this stream could send them.
        write(stream, event('gap', { lost: recorder.oldest() - stream.next }));
        stream.next = recorder.oldest();
        continue;
      }
      const delivery = recorder.get(stream.next);
      stream.next += 1;
      if (delivery === undefined) continue;
      const summary = summarise(delivery);
      write(stream, event('delivery', { ...summary, oldest: recorder.oldest() }, summary.id));
    }
    if (stream.next <= recorder.newest() && stream.fullSince === undefined) schedule();
  };
  const write = (stream: Stream, text: string) => {
    if (!stream.res.write(text)) stream.fullSince ??= performance.now();
  };

  const pulse = setInterval(() => {
    for (const stream of streams) {
      if (stream.fullSince === undefined) write(stream, event('ping', {}));
      else if (performance.now() - stream.fullSince > stalledMs) stream.res.destroy();
    }
  }, pingMs);
  pulse.unref();
  recorder.onRecorded(schedule);

  return {
    open(res, after) {
      if (streams.size >= maxStreams) return false;
      const seen = after === undefined ? undefined : recorder.numberOf(after);
      const known = seen !== undefined && seen <= recorder.newest();
      const stream: Stream = { res, next: known ? seen + 1 : recorder.oldest(), fullSince: undefined };
      streams.add(stream);
      res.on('close', () => streams.delete(stream));
      res.on('drain', () => {
        stream.fullSince = undefined;
        schedule();
      });
      const { instance, maxDeliveries } = recorder;
      write(
        stream,
        `retry: 1000\n${event('hello', { ...hello(), instance, maxDeliveries, oldest: recorder.oldest() })}`,
      );
      send(stream);
      return true;
    },
    close() {
      clearInterval(pulse);
      clearTimeout(scheduled);
      for (const { res } of streams) res.end();
    },
  };
}

function event(name: string, data: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
