/** The doctor: what stands in the way of a delivery, with fixes and without a verdict. */
export type { DoctorDocument, DoctorFinding, DoctorSection, SectionId, Severity } from './doctor-document.ts';
export { doctorSchema } from './doctor-schema.ts';
export { type DoctorOptions, examine } from './examine.ts';
export { renderDoctor } from './render/render-doctor.ts';
