/** A lane: one kept connection, as the sender keeps it in production, and new ones for what must not share it. */
import { setMaxListeners } from 'node:events';
import { isAccepted } from '../judge/index.ts';
import type { Partner } from '../partner.ts';
import {
  connectedExchange,
  createIdentities,
  headersFor,
  type Identities,
  rawExchange,
  requestBytes,
  writerFor,
} from '../probe/index.ts';
import { createSender } from '../sender/index.ts';
import { type Attempt, createConnections, exchange } from '../transport/index.ts';
import type { Assembled } from './assemble.ts';
import { passIsOver, type RunContext } from './context.ts';
import { lastControl, type SendingPlan, type Trial, tryScenario } from './trial.ts';

export interface SendOptions {
  /** On a connection of its own. */
  readonly fresh?: boolean;
  /** In place of the run's limits, for a second look. Implies a connection of its own. */
  readonly timeoutMs?: number;
  readonly bodyCapBytes?: number;
}

export interface Lane {
  /** Sends one assembled request. Never rejects. */
  send(assembled: Assembled, options?: SendOptions): Promise<Attempt>;
  /** Closes every connection; deliveries under way end without an answer. */
  close(): void;
}

const BODY_CAP_BYTES = 64 * 1024;

export function createLane(
  partner: Partner,
  limits: { readonly timeoutMs: number },
  identities: () => Identities = () => createIdentities(partner, {}, false),
): Lane {
  const connected = { lookup: partner.lookup, ...(partner.tls === undefined ? {} : { tls: partner.tls }) };
  const kept = createSender({ timeoutMs: limits.timeoutMs, bodyCapBytes: BODY_CAP_BYTES, maxSockets: 1, ...connected });
  const fresh = createConnections({ keepAlive: false, ...connected });
  const closing = new AbortController();
  const { signal } = closing;
  // A group of deliveries listens to it all at once.
  setMaxListeners(0, signal);

  return {
    send({ prepared, transmission, kit, change }, options = {}) {
      const timeoutMs = options.timeoutMs ?? limits.timeoutMs;
      const bodyCapBytes = options.bodyCapBytes ?? BODY_CAP_BYTES;
      if (transmission?.kind === 'raw') {
        return rawExchange(prepared.url, partner, transmission.make(requestBytes(prepared), kit), {
          timeoutMs,
          bodyCapBytes,
          signal,
        });
      }
      if (change.connect !== undefined) {
        const limitsOfThis = { timeoutMs, bodyCapBytes, signal };
        return connectedExchange(prepared, partner, change.connect, identities(), limitsOfThis);
      }
      const write = writerFor(transmission);
      const { fresh: alone = false } = options;
      if (write === undefined && !alone && options.timeoutMs === undefined && options.bodyCapBytes === undefined) {
        return kept.deliver(prepared, { signal });
      }
      const request = { ...prepared, headers: headersFor(transmission, prepared.headers) };
      const agent = fresh.agentFor(prepared.url);
      return exchange(request, { agent, timeoutMs, bodyCapBytes, signal, ...(write === undefined ? {} : { write }) });
    },
    close() {
      closing.abort();
      kept.close();
      fresh.close();
    },
  };
}

/** Runs trials on lanes: several at a time, each lane with its own connection and its own chain of controls. */

/** What one pass over the queue brought. `suspects` were in flight when the receiver stopped answering. */
interface Pass {
  /** Failed on the transport, or through a gateway, while others were in flight: to be tried alone before anybody is blamed. */
  readonly doubtful: readonly Trial[];
  readonly suspects: readonly Trial[];
}

const GATEWAY_ERRORS: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether a neighbour in flight may be to blame for what a probe got. */
function mayBeANeighbours(trial: Trial): boolean {
  return trial.evidence.probes.some(({ attempt, expect }) => {
    if (attempt.answer !== null) return GATEWAY_ERRORS.has(attempt.answer.status);
    const kind = attempt.error?.kind;
    if (expect.pass.includes('none')) return false;
    return kind === 'reset' || kind === 'refused' || kind === 'unreachable' || kind === 'timeout';
  });
}

/**
 * Whether nobody was there to take a probe, though the control before it was accepted. Somebody stopped the receiver in between: the probe
 * itself, when it went out on a kept connection, was cut off there and sent again, or a neighbour. Alone, on new connections, it shows.
 */
function metNobody({ evidence: { before, probes } }: Trial): boolean {
  return isAccepted(before) && probes.some(({ attempt }) => attempt.error?.kind === 'refused');
}

/**
 * Whether all the trouble is that connections were closed, which is what is expected there, and each of them was made twice (a probe that changes the
 * connect stage is). A neighbour that broke the receiver would have trouble of another sort itself, so without such a one there is no doubt.
 */
function wasRefusedByClosing({ shipments, evidence }: Trial): boolean {
  const probes = shipments.filter(({ role }) => role === 'probe');
  if (probes.some(({ assembled }) => assembled.change.connect === undefined)) return false;
  return evidence.probes.every(
    ({ attempt, expect }) =>
      attempt.answer !== null || (attempt.error?.kind === 'reset' && expect.pass.includes('closed')),
  );
}

/** When a trial took place. */
type Span = Pick<Trial, 'startMs' | 'endMs'>;

function overlaps(a: Span, b: Span): boolean {
  return a !== b && a.startMs < b.endMs && b.startMs < a.endMs;
}

/** Works through the queue until it is empty, the receiver stops answering, or the run is stopped. Takes what it tries off the queue. */
export async function runLanes(
  context: RunContext,
  lanes: readonly Lane[],
  queue: SendingPlan[],
  onSettled: (trial: Trial) => void,
): Promise<Pass> {
  // Without their answers, which would add up to the memory of the whole run.
  const finished: Span[] = [];
  const suspects: Trial[] = [];
  const trouble: Trial[] = [];
  const waiting: Trial[] = [];
  const waitedBeforeMs = context.waitedMs;
  let halt = false;

  async function work(lane: Lane, index: number): Promise<void> {
    let before: Parameters<typeof tryScenario>[3] = null;
    while (!halt && !context.signal.aborted && context.stopped === null && (index === 0 || !context.serial)) {
      if (passIsOver(context, waitedBeforeMs)) return;
      const planned = queue.shift();
      if (planned === undefined) return;
      const trial = await tryScenario(context, lane, planned, before);
      before = lastControl(trial);
      // An interruption ended its deliveries, not the endpoint: nothing can be said about it.
      if (context.signal.aborted && before === null) return;
      if (trial.outage !== null) {
        halt = true;
        suspects.push(trial);
      } else if (mayBeANeighbours(trial)) {
        trouble.push(trial);
        waiting.push(trial);
      } else {
        finished.push({ startMs: trial.startMs, endMs: trial.endMs });
        onSettled(trial);
      }
    }
  }
  await Promise.all(lanes.map(work));

  // Other trouble with nobody else about is the scenario's own. A timeout is shared only when another lane had trouble at the time.
  const all: Span[] = [...finished, ...trouble, ...suspects];
  const unexplained: Span[] = [...trouble.filter((trial) => !wasRefusedByClosing(trial)), ...suspects];
  const doubtful = waiting.filter((trial) => {
    if (metNobody(trial)) return true;
    if (wasRefusedByClosing(trial)) return unexplained.some((other) => overlaps(trial, other));
    const timedOut = trial.evidence.probes.some(({ attempt }) => attempt.error?.kind === 'timeout');
    return (timedOut ? [...trouble, ...suspects] : all).some((other) => overlaps(trial, other));
  });
  for (const trial of waiting) {
    if (!doubtful.includes(trial)) onSettled(trial);
  }
  return { doubtful, suspects };
}
