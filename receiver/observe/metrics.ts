/** Metrics in the Prometheus format. Uses prom-client, which is loaded only when metrics are created. */
import type { Registry } from 'prom-client';
import { NOTIFICATION_KINDS } from '../../contract/index.ts';
import { loadOptional } from '../../contract/optional-package.ts';
import { type ConnectionObserver, DROP_REASONS } from '../budget.ts';
import type { DeliveryObserver } from '../delivery-report.ts';
import type { InboxMeter } from '../inbox/inbox.ts';
import { withTimeout } from '../with-timeout.ts';

/** Upper bounds of the histogram buckets, in seconds: fine below 10 ms, up to the sender's time limit of 10 s. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const ROWS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** Maximum time that a scrape waits for the queue depths, in milliseconds. */
const DEPTHS_MS = 1000;

/**
 * Returns the number of notifications in each state: `{ pending: 3, dead: 1 }`. Called at every scrape, with a time
 * limit.
 */
export type QueueDepths = () => Promise<Readonly<Record<string, number>>>;

export interface ReceiverMetrics {
  /** Counts deliveries. Add it to `ReceiverOptions.observers`. */
  readonly deliveries: DeliveryObserver;
  /** Counts connections. Set it as `ServerOptions.connectionObserver`. */
  readonly connections: ConnectionObserver;
  /** Measures storing and handling. Set it as `ReceiverOptions.meter`. */
  readonly inbox: InboxMeter;
  /** Calls `depths` at every scrape from now on, instead of an earlier function. */
  watchQueue(depths: QueueDepths): void;
  /** Returns all metrics as text, with its content type. Does not reject when `depths` does. */
  scrape(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Creates the metrics of one receiver. Throws `HookproofError` `PACKAGE_MISSING` if prom-client is not installed. */
export async function createMetrics(): Promise<ReceiverMetrics> {
  const prometheus = await loadOptional('prom-client', () => import('prom-client'));
  const registry = new prometheus.Registry();
  const describe = describeIn(registry);
  // Metrics of the process and of Node, under their usual names: process_..., nodejs_...
  prometheus.collectDefaultMetrics({ register: registry });
  return {
    deliveries: countDeliveries(prometheus, describe),
    connections: countConnections(prometheus, describe),
    inbox: measureInbox(prometheus, describe),
    watchQueue: measureQueue(prometheus, describe),
    scrape: async () => ({
      contentType: registry.contentType,
      // prom-client writes Nan when there are no samples of the event loop, and some parsers accept only NaN.
      text: (await registry.metrics()).replaceAll(/ Nan$/gm, ' NaN'),
    }),
  };
}

type Prometheus = typeof import('prom-client');
type Describe = ReturnType<typeof describeIn>;

/** Returns a function that creates the options for the constructors of prom-client. */
function describeIn(registry: Registry) {
  return <Label extends string>(name: string, help: string, ...labelNames: Label[]) => ({
    name: `hookproof_receiver_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
}

function countDeliveries({ Counter, Histogram }: Prometheus, describe: Describe): DeliveryObserver {
  const deliveries = new Counter(
    describe('deliveries_total', 'Completed deliveries, by outcome and reason.', 'outcome', 'reason'),
  );
  const duplicates = new Counter(
    describe('duplicates_total', 'Accepted deliveries of notifications that were already known.'),
  );
  const deliverySeconds = new Histogram({
    ...describe('delivery_duration_seconds', 'Time from the head of the request to the end of the answer.', 'outcome'),
    buckets: SECONDS,
  });
  const credentials = new Counter(
    describe(
      'credentials_used_total',
      'Valid credentials in deliveries, by position: 0 is the current one; the others should be removed.',
      'credential',
      'position',
    ),
  );
  return ({ outcome, reasonCode, duplicate, durationMs, secretIndex, keyIndex }) => {
    deliveries.inc({ outcome, reason: reasonLabel(reasonCode) });
    deliverySeconds.observe({ outcome }, durationMs / 1000);
    if (duplicate) duplicates.inc();
    if (secretIndex !== undefined) credentials.inc({ credential: 'secret', position: secretIndex });
    if (keyIndex !== undefined) credentials.inc({ credential: 'key', position: keyIndex });
  };
}

function countConnections({ Counter, Gauge }: Prometheus, describe: Describe): ConnectionObserver {
  const open = new Gauge(describe('connections_open', 'Open connections.'));
  const dropped = new Counter(
    describe(
      'connections_dropped_total',
      'Connections closed because of a limit on connections, requests, bodies or unread answers.',
      'why',
    ),
  );
  // The counter starts at 0 for every reason. Otherwise an alert on its rate would miss the first drop.
  for (const why of DROP_REASONS) dropped.inc({ why }, 0);
  const uploading = new Gauge(describe('upload_bytes', 'Memory of the bodies that are still arriving.'));
  const refused = new Counter(
    describe(
      'requests_refused_total',
      'Requests rejected before the first stage, because they were invalid HTTP, too large or too slow.',
      'status',
      'reason',
    ),
  );
  return {
    opened: () => open.inc(),
    closed: () => open.dec(),
    dropped: (why) => dropped.inc({ why }),
    refused: (status, error) => refused.inc({ status, reason: error }),
    uploading: (bytes) => uploading.set(bytes),
  };
}

function measureInbox({ Histogram }: Prometheus, describe: Describe): InboxMeter {
  const storeSeconds = new Histogram({
    ...describe('store_duration_seconds', 'Time until a delivery was durably stored.'),
    buckets: SECONDS,
  });
  const commitSeconds = new Histogram({
    ...describe('commit_duration_seconds', 'Duration of one transaction of the inbox.'),
    buckets: SECONDS,
  });
  const commitRows = new Histogram({
    ...describe('commit_rows', 'Deliveries in one transaction of the inbox.'),
    buckets: ROWS,
  });
  const handlerSeconds = new Histogram({
    ...describe('handler_duration_seconds', 'Duration of one attempt of a handler.', 'kind', 'outcome'),
    buckets: SECONDS,
  });
  return {
    stored: (seconds) => storeSeconds.observe(seconds),
    committed(rows, seconds) {
      commitRows.observe(rows);
      commitSeconds.observe(seconds);
    },
    handled: (kind, outcome, seconds) => handlerSeconds.observe({ kind: kindLabel(kind), outcome }, seconds),
  };
}

/** Creates the gauge of the queue depths, which calls the most recently set function at every scrape. */
function measureQueue({ Gauge }: Prometheus, describe: Describe): ReceiverMetrics['watchQueue'] {
  let countQueue: QueueDepths | undefined;
  new Gauge({
    ...describe('queue_depth', 'Notifications in the inbox, by state.', 'state'),
    async collect() {
      // Without a new count, the gauge has no value, because the old one would look current.
      this.reset();
      if (countQueue === undefined) return;
      const none = (): Awaited<ReturnType<QueueDepths>> => ({});
      const depths = await withTimeout(countQueue, DEPTHS_MS, none).catch(none);
      for (const [state, depth] of Object.entries(depths)) this.set({ state: stateLabel(state) }, depth);
    },
  });
  return (depths) => {
    countQueue = depths;
  };
}

// Label values come from fixed sets: a value from a request must never create a time series.

const CREDENTIAL_REASONS = ['missing', 'malformed', 'mismatch'];

/** The reasons that stages give for rejecting deliveries. Each of them is a label value. */
const REASONS: ReadonlySet<string> = new Set([
  ...CREDENTIAL_REASONS.map((reason) => `api-key-${reason}`),
  ...CREDENTIAL_REASONS.map((reason) => `signature-${reason}`),
  ...[...CREDENTIAL_REASONS, 'untrusted', 'not-allowed', 'not-from-proxy'].map(
    (reason) => `client-certificate-${reason}`,
  ),
  'not-found',
  'method-not-allowed',
  'body-too-large',
  'content-type-not-json',
  'content-encoding-not-supported',
  'body-not-utf8',
  'body-too-deep',
  'body-not-json',
  'not-a-notification',
  'not-stored',
  'inbox-failed',
  'sink-failed',
  'connection-closed',
  ...DROP_REASONS,
  'http-version-not-supported',
  'transfer-encoding-not-supported',
  'internal-error',
]);

const KINDS: ReadonlySet<string> = new Set([...NOTIFICATION_KINDS, 'UNKNOWN']);

/**
 * Returns the label for the reason of a delivery: `none` when it was accepted, `other` when the reason is not listed.
 */
function reasonLabel(code: string | undefined): string {
  if (code === undefined) return 'none';
  return REASONS.has(code) ? code : 'other';
}

function kindLabel(kind: string): string {
  return KINDS.has(kind) ? kind : 'other';
}

/** Returns the label for a state that the inbox reports. */
function stateLabel(state: string): string {
  return /^[a-z][a-z-]{0,29}$/.test(state) ? state : 'other';
}
