/** The authorities that are trusted beside the system's. */
import type { X509Certificate } from 'node:crypto';
import { certificatesPem, readAuthorities } from '../../../certs/index.ts';
import type { DoctorSection } from '../doctor-document.ts';
import { advice, problem } from '../findings/finding.ts';
import { looked } from '../sections.ts';
import type { Told } from '../told/told.ts';
import { ofLoader } from './client-identity.ts';
import { materialOf } from './read-material.ts';
import { shownCertificates } from './shown-certificates.ts';

export interface ExtraAuthorities {
  readonly section: DoctorSection;
  readonly certificates: readonly X509Certificate[];
  /** PEM; null when none can be used. */
  readonly pem: string | null;
}

/** A whole trust store has some hundred. */
const MOST_SHOWN = 20;

export async function extraAuthorities(told: Told): Promise<ExtraAuthorities> {
  const { file, findings } = await materialOf(told, 'ca');
  const reading = file === undefined ? undefined : readAuthorities(file.bytes, { source: file.source });
  const certificates = reading?.value ?? [];
  return {
    section: looked(
      'authorities',
      { from: told.where, certificates: shownCertificates(certificates.slice(0, MOST_SHOWN)) },
      [
        ...findings,
        ...(reading?.problems ?? []).map(ofLoader(problem, 'ca')),
        ...(reading?.advice ?? []).map(ofLoader(advice, 'ca')),
      ],
    ),
    certificates,
    pem: certificates.length === 0 ? null : certificatesPem(certificates),
  };
}
