/** Makes findings. Their texts hold no value of a credential. */
import type { DoctorFinding, Severity } from '../doctor-document.ts';

export type { DoctorFinding } from '../doctor-document.ts';

type Make = (code: string, title: string, fix: string | null, detail?: string) => DoctorFinding;

function maker(severity: Severity): Make {
  return (code, title, fix, detail = '') => ({ severity, code, title, detail, fix });
}

/** Deliveries fail, or are not safe. */
export const problem = maker('problem');
/** It works, and should be mended. */
export const advice = maker('advice');
/** Worth knowing. */
export const info = maker('info');
