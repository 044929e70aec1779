/** What has to hold of the proofs, and what of the wrong receivers has to be seen. */
import type { Proofs } from './proofs.ts';
import type { WrongWay } from './wrong-receivers.ts';

const MOST_GROWTH_MB = 15;
const SLOWEST_MS = 8000;

/** The claims that do not hold. */
export function broken(proofs: Proofs): string[] {
  const claims: [what: string, holds: boolean][] = [];
  for (const { store, wrong, result: r } of proofs.kills) {
    const seen: Partial<Record<WrongWay, number>> = {
      'acknowledges first': r.missing,
      'handles first': r.handledUnstored,
      'settles first': r.unhandled,
    };
    const sum = r.missing + r.duplicates + r.unhandled + r.handledUnstored + r.dead;
    claims.push([`kills, ${store}, ${wrong ?? 'right'}`, wrong === null ? sum === 0 : (seen[wrong] ?? 0) > 0]);
  }
  for (const { store, wrong, result: r } of proofs.flushes) {
    const enough = r.fsyncs === null || r.fsyncs >= r.acknowledged;
    claims.push([
      `flushes, ${store}, ${wrong ?? 'right'}`,
      r.acknowledged === r.deliveries && enough === (wrong === null),
    ]);
  }
  for (const r of proofs.outages) {
    const lost = r.acknowledgedWithoutRow + r.unhandled + r.duplicates + r.otherwise;
    const well = r.sameProcess && !r.secretInLog && r.slowestMs < SLOWEST_MS && r.refused > 0;
    claims.push([`outage, ${r.store}: ${r.what}`, lost === 0 && well]);
  }
  for (const { what, wrong, result: r } of proofs.replicas) {
    const stored = r.rows === r.notifications && r.accepted === r.rows && r.handled === r.rows;
    const once = r.runs === r.rows && r.ok === 3 * r.rows;
    const inOrder = r.overlaps + r.outOfOrder === 0 && r.pairs > 0;
    const holds = stored && inOrder && (what.includes('killed') || once) && r.shares.every((share) => share > 0);
    claims.push([`replicas, ${what}, ${wrong ?? 'right'}`, holds === (wrong === null)]);
  }
  for (const r of proofs.soaks) {
    const all = r.acknowledged === r.deliveries && r.rows === r.deliveries && r.handled >= r.rows;
    const growth = (r.memory.at(-1) ?? 0) - (r.memory[0] ?? 0);
    claims.push([`soak, ${r.store}, ${r.what}: every row`, all]);
    claims.push([`soak, ${r.store}, ${r.what}: memory grows by ${growth.toFixed(1)} MB`, growth < MOST_GROWTH_MB]);
  }
  return claims.filter(([, holds]) => !holds).map(([what]) => what);
}
