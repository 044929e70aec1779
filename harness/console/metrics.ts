/** The console's metrics for Prometheus. The library, prom-client, is loaded on the first scrape. */
import { loadOptional } from '../../contract/optional-package.ts';
import { STATES } from '../register/index.ts';
import type { Standings } from './standings.ts';
import { isAlive, type Operation } from './workers.ts';

interface Sources {
  readonly standings: Standings;
  readonly operation: () => Promise<Operation | null>;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2.5, 5, 10];

export class ConsoleMetrics {
  readonly #sources: Sources;
  #loaded: ReturnType<typeof createGauges> | null = null;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** Records how long a request took. Does nothing before the first scrape. */
  observe(route: string, status: number, seconds: number): void {
    this.#loaded?.then(({ requests }) => requests.observe({ route, status: String(status) }, seconds)).catch(() => {});
  }

  /** @throws HookproofError PACKAGE_MISSING */
  async scrape(): Promise<{ readonly contentType: string; readonly text: string }> {
    this.#loaded ??= createGauges();
    const { expiring, jobs, partners, registry, workers } = await this.#loaded;
    const { standings } = this.#sources;
    const [totals, operation, soon] = await Promise.all([
      standings.totals(),
      this.#sources.operation(),
      standings.countExpiring(14),
    ]);
    for (const state of STATES) partners.set({ state }, totals[state]);
    expiring.set(soon);
    for (const [state, count] of Object.entries(operation?.counts ?? {})) jobs.set({ state }, count);
    workers.set(operation?.workers.filter(isAlive).length ?? 0);
    return { contentType: registry.contentType, text: (await registry.metrics()).replaceAll(/ Nan$/gm, ' NaN') };
  }
}

async function createGauges() {
  const { Gauge, Histogram, Registry, collectDefaultMetrics } = await loadOptional(
    'prom-client',
    () => import('prom-client'),
  );
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const described = (name: string, help: string) => ({ name: `hookproof_${name}`, help, registers: [registry] });
  return {
    registry,
    partners: new Gauge({ ...described('partners', 'Partners by state.'), labelNames: ['state'] }),
    expiring: new Gauge(described('certificates_expiring', 'Certificates that expire within 14 days.')),
    jobs: new Gauge({ ...described('queue_jobs', 'Jobs of the queue by state.'), labelNames: ['state'] }),
    workers: new Gauge(described('workers_alive', 'Workers that renewed their lease within the last 20 seconds.')),
    requests: new Histogram({
      ...described('console_request_seconds', 'Duration of requests to the console.'),
      labelNames: ['route', 'status'],
      buckets: SECONDS,
    }),
  };
}
