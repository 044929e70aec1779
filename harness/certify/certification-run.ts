/** A run that a certificate can be issued for: the endpoint's key and the clock are watched beside it. */
import { performance } from 'node:perf_hooks';
import type { ResultDocument } from '../result/result-document.ts';
import { type RunOptions, run } from '../run/run.ts';
import { createLook, type EndpointLook, trusting } from './look-at-endpoint.ts';
import { atOneAddress } from './one-address.ts';

export interface CertificationRun {
  /** As the run gives it: not redacted yet. */
  readonly document: ResultDocument;
  /** What the endpoint was before the run, at each tenth of it, and after it. Null where no handshake was had. */
  readonly looks: readonly (EndpointLook | null)[];
  readonly clock: ClockReading;
}

export interface ClockReading {
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** Milliseconds of the monotonic clock between the two. */
  readonly elapsedMs: number;
}

const LOOK_TIMEOUT_MS = 5000;
/** How often the endpoint is looked at while the run goes on. */
const PARTS = 10;

/**
 * Runs as {@link run} does. `publicRoots` is for tests: it stands in for the public authorities, for the run and for the look at the
 * endpoint. The command line has no way to it.
 */
export async function certificationRun(
  given: RunOptions,
  { publicRoots }: { readonly publicRoots?: readonly string[] } = {},
): Promise<CertificationRun> {
  const options = await atOneAddress(given);
  const partner = publicRoots === undefined ? options.partner : trusting(options.partner, publicRoots);
  const look = partner.url.startsWith('https:')
    ? createLook(partner, LOOK_TIMEOUT_MS, publicRoots)
    : () => Promise.resolve(null);
  const startedAt = new Date();
  const started = performance.now();
  const looks: Promise<EndpointLook | null>[] = [look(options.signal)];
  await looks[0];
  let due = 1;
  const document = await run({
    ...options,
    partner,
    listener: (event) => {
      options.listener?.(event);
      if (event.type !== 'scenario-finished' || event.judged * PARTS < due * event.planned) return;
      due = Math.floor((event.judged * PARTS) / event.planned) + 1;
      if (due <= PARTS) looks.push(look(options.signal));
    },
  });
  looks.push(look(options.signal));
  const seen = await Promise.all(looks);
  const clock = { startedAt, endedAt: new Date(), elapsedMs: performance.now() - started };
  return { document, looks: seen, clock };
}
