/** The doctor: what prevents a delivery, with fixes and without a verdict. */
import type { JsonObject } from '../../contract/index.ts';

export type { DoctorDocument, DoctorFinding, DoctorSection, SectionId, Severity } from './doctor-document.ts';
export { type DoctorOptions, examine } from './examine.ts';
export { DOCTOR_FINDINGS } from './finding-codes.ts';
export { renderDoctor } from './render-doctor.ts';
export { DOCTOR_SECTIONS } from './sections.ts';

/** The JSON Schema of the doctor's document. Loads zod only when it is asked for. */
export async function doctorSchema(): Promise<JsonObject> {
  return (await import('./doctor-document.ts')).documentJsonSchema();
}
