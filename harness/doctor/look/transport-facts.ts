import type { Timings, TransportError } from '../../transport/index.ts';
import type { TimingFacts, TransportFacts } from '../doctor-document.ts';

export function transportFacts(error: TransportError | null): TransportFacts | null {
  if (error === null) return null;
  const { kind, phase, code, message, alert = null } = error;
  return { kind, phase, code, message, alert };
}

export function timingFacts({ connectMs, tlsMs, firstByteMs, totalMs }: Timings): TimingFacts {
  return { connectMs, tlsMs, firstByteMs, totalMs };
}
