/** Starts a receiver with its inspector on real sockets, and creates reports and events for tests. */
import type { IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import type { ForwardedExchange, HeaderLine } from '../../../contract/index.ts';
import {
  type DeliveryReport,
  type InspectorOptions,
  type RunningInspector,
  type RunningReceiver,
  startInspector,
  startReceiver,
} from '../../../receiver/index.ts';
import { API_KEY, buy, headersFor, SECRET } from '../deliveries.ts';

export interface Inspected {
  readonly inspector: RunningInspector;
  readonly receiver: RunningReceiver;
  /** Delivers these bytes and returns the status. */
  deliver(body: string | Uint8Array, changes?: Record<string, string | undefined>, path?: string): Promise<number>;
  close(): Promise<void>;
}

export const signing = { secrets: [SECRET] };
export const apiKey = { keys: [API_KEY] };

export async function inspected(options: InspectorOptions = {}): Promise<Inspected> {
  let url: string | undefined;
  const inspector = await startInspector({ signing, apiKey, receiverUrl: () => url, ...options });
  const receiver = await startReceiver({ signing, apiKey, observers: [inspector.observe] });
  url = receiver.url;
  return {
    inspector,
    receiver,
    async deliver(body, changes = {}, path = '/') {
      const headers = headersFor(body, changes);
      const answer = await fetch(new URL(path, receiver.url), { method: 'POST', headers, body: Buffer.from(body) });
      await answer.arrayBuffer();
      return answer.status;
    },
    async close() {
      await receiver.close();
      await inspector.close();
    },
  };
}

/** Starts a site that is closed when the test ends. */
export async function inspectedForTest(options?: InspectorOptions): Promise<Inspected> {
  const site = await inspected(options);
  onTestFinished(() => site.close());
  return site;
}

/** Creates the report of a rejected delivery. */
export function reportOf(changes: Partial<DeliveryReport> & { headers?: string[]; url?: string } = {}): DeliveryReport {
  const { headers = ['Content-Type', 'application/json'], url = '/', ...rest } = changes;
  const request = { rawHeaders: headers, method: 'POST', url, httpVersion: '1.1', socket: { remoteAddress: '::1' } };
  return {
    outcome: 'refused',
    status: 401,
    reason: 'signature-mismatch',
    reasonCode: 'reason' in changes ? changes.reason : 'signature-mismatch',
    reasonDetail: undefined,
    duplicate: false,
    notification: undefined,
    secretIndex: undefined,
    keyIndex: undefined,
    receivedAt: new Date(0),
    durationMs: 1.5,
    request: request as unknown as IncomingMessage,
    rawBody: Buffer.from('{}'),
    ...rest,
  };
}

export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: { readonly id: string; readonly number: number; readonly lost: number; readonly instance: string };
}

/** Parses server-sent events. */
export function eventsIn(text: string): StreamEvent[] {
  return text
    .split('\n\n')
    .map(
      (frame) => new Map(frame.split('\n').map((line) => [line.split(': ', 1)[0], line.slice(line.indexOf(': ') + 2)])),
    )
    .filter((fields) => fields.has('data'))
    .map((fields) => ({
      id: fields.get('id'),
      event: fields.get('event') ?? '',
      data: JSON.parse(fields.get('data') ?? '') as StreamEvent['data'],
    }));
}

/** Opens a stream of events. `until` resolves with all events once the condition holds. */
export async function openEvents(inspector: RunningInspector, headers: Record<string, string> = {}) {
  const controller = new AbortController();
  const answer = await fetch(new URL('events', inspector.url), { headers, signal: controller.signal });
  const reader = answer.body?.getReader();
  let text = '';
  return {
    answer,
    text: () => text,
    async until(holds: (events: StreamEvent[]) => boolean): Promise<StreamEvent[]> {
      while (!holds(eventsIn(text))) {
        const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
        if (done) break;
        text += Buffer.from(value ?? '').toString('utf8');
      }
      return eventsIn(text);
    },
    close: () => controller.abort(),
  };
}

export const deliveriesIn = (events: StreamEvent[]) => events.filter(({ event }) => event === 'delivery');

/** The default body of an exchange. */
export const BODY = Buffer.from(JSON.stringify(buy('id-1')));

interface Changes {
  readonly status?: number | undefined;
  readonly headers?: Record<string, string | undefined>;
  readonly body?: Buffer;
  readonly method?: string;
  readonly complete?: boolean;
  readonly answer?: { readonly headers?: readonly HeaderLine[]; readonly body?: string };
}

/** Creates an exchange as seen by a proxy: a valid delivery that was answered 200, with these changes. */
export function exchange({
  status = 200,
  headers = {},
  body = BODY,
  answer = {},
  ...rest
}: Changes = {}): ForwardedExchange {
  const { method = 'POST', complete = true } = rest;
  const raw = Buffer.from('the bytes');
  const isAnswered = !('status' in rest) && status !== 0;
  return {
    receivedAt: new Date(0),
    durationMs: 1,
    remoteAddress: '127.0.0.1',
    request: {
      method,
      target: '/',
      httpVersion: '1.1',
      headers: Object.entries(headersFor(body, headers)),
      raw,
      body,
      bodyLength: body.length,
      complete,
    },
    answer: isAnswered
      ? {
          status,
          reasonPhrase: '',
          headers: answer.headers ?? [],
          body: Buffer.from(answer.body ?? ''),
          bodyLength: answer.body?.length ?? 0,
        }
      : undefined,
  };
}
