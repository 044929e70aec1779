/**
 * Computes what 100,000 partners and a million deliveries per second would take, from the measurements. Each step names
 * its inputs, and says whether it is measured, computed from measured figures, or assumed.
 */
import { DEFAULT_CONCURRENCY } from '../../../harness/run/pace.ts';
import type { Table } from '../bench/page.ts';
import { median } from '../bench/rounds.ts';
import type { DistanceMeasured } from './distance.ts';
import { fitLine, type Point } from './fit.ts';
import { amount } from './numbers.ts';
import type { PartnersMeasured } from './partners.ts';
import type { SenderMeasured } from './sender.ts';

const PARTNERS = 100_000;
const DELIVERIES_A_SECOND = 1_000_000;

/** The planned utilisation of a core, so that no queue builds up. */
const PLANNED_USE = 0.6;
const ROUND_TRIP_MS = 50;
/** Time that a receiver takes to answer a delivery, in addition to the round trip, in milliseconds. */
const ANSWER_MS = 50;
/** Number of connections that are kept to each partner, for bursts. */
const KEPT_CONNECTIONS = 4;
/** Lifetime of a connection, in seconds. */
const CONNECTION_LIFE_S = 3_600;
/** Size of the headers of Ethernet, IPv4, and TCP with timestamps, in bytes. */
const FRAME_BYTES = 66;
/**
 * Packets per delivery: the request and the acknowledgement of the answer to the partner, and the answer, which
 * acknowledges the request, from the partner.
 */
const PACKETS = { sent: 2, received: 1 };
/** Time for which Linux keeps the port of a connection that it has closed, in seconds. */
const TIME_WAIT_S = 60;
const LINUX_PORTS = 28_232;
/** Maximum size of one ConfigMap in Kubernetes. */
const CONFIG_MAP_BYTES = 1_048_576;
/** Time for which deliveries wait if every partner is briefly slow, in seconds. */
const BACKLOG_S = 1;
/** Writes to the queue: a partner is added, claimed and finished, and a delivery is added and marked as done. */
const QUEUE_WRITES = { partner: 3, delivery: 2 };
const CORES_A_POD = 2;

export interface Inputs {
  readonly distance: DistanceMeasured;
  readonly partners: PartnersMeasured;
  readonly sender: SenderMeasured;
  /** Notifications per second that the receiver stores in PostgreSQL, according to docs/performance.md. */
  readonly storedASecond: number;
}

type Basis = 'measured' | 'computed' | 'assumed';

const COLUMNS = ['what', 'how', 'result', ''];
const row = (what: string, how: string, result: string, basis: Basis) => [what, how, result, basis];

/** Fits a line to a figure of the fleets. */
function lineOf<T extends { readonly partners: number }>(rows: readonly T[], of: (row: T) => number) {
  return fitLine(rows.map((each): Point => ({ x: each.partners, y: of(each) })));
}

export function certificationTable({ distance, partners }: Inputs): Table {
  const cpuS = lineOf(partners.fleets, ({ fleet }) => fleet.cpuMs).slope / 1000;
  const workerMb = fitLine(partners.workers.map(({ workers, fleet }) => ({ x: workers, y: fleet.peakMb }))).slope;
  const far = distance.runs.find(({ scheme, roundTripMs }) => scheme === 'https' && roundTripMs === ROUND_TRIP_MS);
  const runS = (far ?? distance.runs.at(-1)!).run.wallMs / 1000;
  const { connections, sentBytes, receivedBytes } = distance.traffic.https;
  const largest = partners.fleets.at(-1)!;
  const bytesOf = largest.disk.allocatedBytes / largest.partners;
  const filesOf = largest.disk.files / largest.partners;
  const checkS = lineOf(partners.checks, ({ check }) => check.wallMs).slope / 1000;
  const mergeS = lineOf(partners.fleets, ({ merge }) => merge.wallMs).slope / 1000;
  const mergeMb = lineOf(partners.fleets, ({ merge }) => merge.peakMb);
  const htmlBytes = lineOf(partners.fleets, ({ summaries }) => summaries['fleet.html']).slope;

  const within = (seconds: number) => {
    const rate = PARTNERS / seconds;
    const cores = (rate * cpuS) / PLANNED_USE;
    const pods = Math.ceil(cores / CORES_A_POD);
    const inFlight = rate * runS;
    return { rate, cores, pods, inFlight };
  };
  const [day, hour] = [within(86_400), within(3_600)];
  const both = (of: (each: typeof day) => string) => `${of(day)}; ${of(hour)}`;
  const per = (of: (each: typeof day) => number, unit: string) =>
    both((each) => `${amount(of(each))} ${unit}`.trimEnd());
  return {
    title: `${amount(PARTNERS)} partners certified in a day; in an hour`,
    columns: COLUMNS,
    rows: [
      row(
        'partners a second',
        `${amount(PARTNERS)} / 86,400 s; / 3,600 s`,
        per(({ rate }) => rate, ''),
        'computed',
      ),
      row('processor time of a partner', 'slope of the fleets', `${amount(cpuS)} s`, 'measured'),
      row('use of a core', 'planned for', `${PLANNED_USE}`, 'assumed'),
      row(
        'cores',
        `partners a second x ${amount(cpuS)} s / ${PLANNED_USE}`,
        per(({ cores }) => cores, 'cores'),
        'computed',
      ),
      row(
        `pods of ${CORES_A_POD} cores`,
        'cores / 2, rounded up: the shards',
        per(({ pods }) => pods, ''),
        'computed',
      ),
      row('time of a run', `HTTPS, mutual TLS, ${ROUND_TRIP_MS} ms`, `${amount(runS)} s`, 'measured'),
      row(
        'runs at the same time',
        `partners a second x ${amount(runS)} s`,
        per(({ inFlight }) => inFlight, ''),
        'computed',
      ),
      row(
        '`--parallel` of a pod, at most 64',
        'runs at the same time / pods',
        per(({ inFlight, pods }) => Math.ceil(inFlight / pods), ''),
        'computed',
      ),
      row('memory of a worker', 'slope of the workers', `${amount(workerMb)} MB`, 'measured'),
      row(
        'memory',
        `runs at the same time x ${amount(workerMb)} MB`,
        per(({ inFlight }) => (inFlight * workerMb) / 1000, 'GB'),
        'computed',
      ),
      row(
        'connections at the same time',
        `runs at the same time x ${DEFAULT_CONCURRENCY} to ${DEFAULT_CONCURRENCY * 8}`,
        both(
          ({ inFlight }) =>
            `${amount(inFlight * DEFAULT_CONCURRENCY)} to ${amount(inFlight * DEFAULT_CONCURRENCY * 8)}`,
        ),
        'computed',
      ),
      row('connections that a run makes', 'HTTPS, mutual TLS, counted', amount(connections), 'measured'),
      row(
        'ports of a pod that wait to be free',
        `partners a second / pods x ${amount(connections)} x ${TIME_WAIT_S} s; ${amount(LINUX_PORTS)} to one address`,
        per(({ rate, pods }) => (rate / pods) * connections * TIME_WAIT_S, ''),
        'computed',
      ),
      row(
        'bytes of a run, sent and received',
        'HTTPS, mutual TLS, counted',
        `${amount(sentBytes / 1e6)} and ${amount(receivedBytes / 1e6)} MB`,
        'measured',
      ),
      row(
        'network, sent and received',
        'partners a second x bytes x 8, without TCP and IP',
        both(
          ({ rate }) =>
            `${amount((rate * sentBytes * 8) / 1e6)} and ${amount((rate * receivedBytes * 8) / 1e6)} Mbit/s`,
        ),
        'computed',
      ),
      row(
        'storage of a partner',
        'the largest fleet, in whole blocks',
        `${amount(bytesOf / 1000)} kB in ${amount(filesOf)} files`,
        'measured',
      ),
      row(
        'storage of one certification of all',
        `${amount(PARTNERS)} x that`,
        `${amount((PARTNERS * bytesOf) / 1e9)} GB in ${amount(PARTNERS * filesOf)} files`,
        'computed',
      ),
      row(
        'the same, daily, kept for a year',
        'x 365',
        `${amount((365 * PARTNERS * bytesOf) / 1e12)} TB in ${amount((365 * PARTNERS * filesOf) / 1e6)} million files`,
        'computed',
      ),
      row(
        'writes of a queue in PostgreSQL',
        `partners a second x ${QUEUE_WRITES.partner} (add, claim, finish; assumed)`,
        per(({ rate }) => rate * QUEUE_WRITES.partner, 'a second'),
        'computed',
      ),
      row(
        'signatures of certificates',
        `partners a second x ${amount(partners.signatureUs)} us (measured)`,
        both(({ rate }) => `${amount((rate * partners.signatureUs) / 1e4)} % of a core`),
        'computed',
      ),
      row(
        'start of each shard',
        `it reads every partner: ${amount(PARTNERS)} x ${amount(checkS * 1000)} ms (measured)`,
        `${amount((PARTNERS * checkS) / 60)} min`,
        'computed',
      ),
      row(
        'joining all shards',
        `one process: ${amount(PARTNERS)} x ${amount(mergeS * 1000)} ms (measured)`,
        `${amount((PARTNERS * mergeS) / 60)} min, ${amount((mergeMb.fixed + PARTNERS * mergeMb.slope) / 1000)} GB`,
        'computed',
      ),
      row(
        '`fleet.html` of all partners',
        `${amount(PARTNERS)} x ${amount(htmlBytes / 1000)} kB (measured)`,
        `${amount((PARTNERS * htmlBytes) / 1e6)} MB`,
        'computed',
      ),
      row(
        'partners whose files fit into one ConfigMap',
        `1 MiB / ${partners.partnerFileBytes} bytes, the file of a partner here`,
        amount(Math.floor(CONFIG_MAP_BYTES / partners.partnerFileBytes)),
        'computed',
      ),
    ],
  };
}

export function deliveriesTable({ sender, storedASecond }: Inputs): Table {
  const https = sender.rates.filter(({ scheme }) => scheme === 'https');
  const cpuUs = median(https.map((each) => each.cpuUs));
  const cores = (DELIVERIES_A_SECOND * cpuUs) / 1e6 / PLANNED_USE;
  const processes = Math.ceil(cores);
  const inFlight = (DELIVERIES_A_SECOND * (ROUND_TRIP_MS + ANSWER_MS)) / 1000;
  const kept = PARTNERS * KEPT_CONNECTIONS;
  const held = (rows: SenderMeasured['waiting'], of: 'residentBytes' | 'heapBytes' | 'cpuUs') =>
    fitLine(rows.map(({ count, held: each }) => ({ x: count, y: each[of] }))).slope;
  const idleBytes = held(sender.idle.https, 'residentBytes');
  const handshakeUs = held(sender.idle.https, 'cpuUs');
  const waitingBytes = held(sender.waiting, 'heapBytes');
  const { sentBytes, receivedBytes } = sender.wire.https;
  const gigabits = (bytes: number) => (DELIVERIES_A_SECOND * bytes * 8) / 1e9;
  const onWire = {
    sent: sentBytes + PACKETS.sent * FRAME_BYTES,
    received: receivedBytes + PACKETS.received * FRAME_BYTES,
  };
  const renewals = kept / CONNECTION_LIFE_S;
  const writes = DELIVERIES_A_SECOND * QUEUE_WRITES.delivery;
  return {
    title: `${amount(DELIVERIES_A_SECOND)} deliveries a second to ${amount(PARTNERS)} partners`,
    columns: COLUMNS,
    rows: [
      row(
        'processor time of a delivery, made, signed, sent over HTTPS',
        'kept connections, the median of all numbers of endpoints and connections',
        `${amount(cpuUs)} us`,
        'measured',
      ),
      row(
        'cores of the senders',
        `${amount(DELIVERIES_A_SECOND)} x ${amount(cpuUs)} us / ${PLANNED_USE} (assumed use)`,
        `${amount(cores)} cores`,
        'computed',
      ),
      row(
        'processes',
        'a process uses one core',
        `${amount(processes)}, ${amount(DELIVERIES_A_SECOND / processes)} deliveries/s each`,
        'computed',
      ),
      row(
        'time of a delivery',
        `round trip ${ROUND_TRIP_MS} ms, answer after ${ANSWER_MS} ms`,
        `${ROUND_TRIP_MS + ANSWER_MS} ms`,
        'assumed',
      ),
      row(
        'deliveries in flight',
        `${amount(DELIVERIES_A_SECOND)} x ${ROUND_TRIP_MS + ANSWER_MS} ms`,
        `${amount(inFlight)}, ${amount(inFlight / PARTNERS)} to each partner`,
        'computed',
      ),
      row('connections kept to a partner', 'for bursts', `${KEPT_CONNECTIONS}`, 'assumed'),
      row(
        'connections',
        `${amount(PARTNERS)} x ${KEPT_CONNECTIONS}, each partner served by one process`,
        `${amount(kept)}, ${amount(kept / processes)} in each process: as many file descriptors and ports`,
        'computed',
      ),
      row('memory of an idle connection', 'HTTPS, without the kernel', `${amount(idleBytes / 1000)} kB`, 'measured'),
      row(
        'memory of the connections',
        `${amount(kept)} x ${amount(idleBytes / 1000)} kB`,
        `${amount((kept * idleBytes) / 1e9)} GB, ${amount((kept * idleBytes) / processes / 1e6)} MB in each process`,
        'computed',
      ),
      row(
        'a new connection with its first delivery',
        'HTTPS, TLS 1.3, full handshake, processor time of the sender',
        `${amount(handshakeUs / 1000)} ms`,
        'measured',
      ),
      row(
        'renewing connections',
        `${amount(kept)} / ${amount(CONNECTION_LIFE_S)} s (assumed life) x ${amount(handshakeUs / 1000)} ms`,
        `${amount(renewals)} a second, ${amount((renewals * handshakeUs) / 1e6)} cores`,
        'computed',
      ),
      row(
        'without kept connections',
        `${amount(DELIVERIES_A_SECOND)} x ${amount(handshakeUs / 1000)} ms / ${PLANNED_USE}`,
        `${amount((DELIVERIES_A_SECOND * handshakeUs) / 1e6 / PLANNED_USE)} cores`,
        'computed',
      ),
      row('memory of a waiting delivery', 'slope', `${amount(waitingBytes / 1000)} kB`, 'measured'),
      row(
        'memory of the queue',
        `${BACKLOG_S} s of deliveries (assumed) x ${amount(waitingBytes / 1000)} kB`,
        `${amount((BACKLOG_S * DELIVERIES_A_SECOND * waitingBytes) / 1e9)} GB`,
        'computed',
      ),
      row(
        'bytes of a delivery, sent and received',
        'HTTP with headers in TLS records, counted',
        `${amount(sentBytes)} and ${amount(receivedBytes)} bytes`,
        'measured',
      ),
      row(
        'the same with headers of packets',
        `${PACKETS.sent} and ${PACKETS.received} packets of ${FRAME_BYTES} bytes more (assumed)`,
        `${amount(onWire.sent)} and ${amount(onWire.received)} bytes`,
        'computed',
      ),
      row(
        'network, sent and received',
        `${amount(DELIVERIES_A_SECOND)} x that x 8`,
        `${amount(gigabits(onWire.sent))} and ${amount(gigabits(onWire.received))} Gbit/s`,
        'computed',
      ),
      row(
        'writes to a database',
        `${amount(DELIVERIES_A_SECOND)} x ${QUEUE_WRITES.delivery} (add, mark as done; assumed)`,
        `${amount(writes)} rows/s`,
        'computed',
      ),
      row(
        'rows that PostgreSQL stores for our receiver',
        '[performance](performance.md): group commit, two cores for both',
        `${amount(storedASecond)} a second`,
        'measured',
      ),
      row(
        'PostgreSQL servers of that size',
        `${amount(writes)} / ${amount(storedASecond)}`,
        amount(Math.ceil(writes / storedASecond)),
        'computed',
      ),
      row(
        'storage of the deliveries of a day',
        `${amount(DELIVERIES_A_SECOND)} x ${amount(sentBytes)} bytes x 86,400 s`,
        `${amount((DELIVERIES_A_SECOND * sentBytes * 86_400) / 1e12)} TB`,
        'computed',
      ),
    ],
  };
}
