/** The doctor: finds what prevents a delivery, with fixes but without a verdict. */

export {
  type DoctorDocument,
  type DoctorSection,
  doctorSchema,
  type SectionId,
  type Severity,
} from './doctor-document.ts';
export { examine } from './examine.ts';
export { DOCTOR_FINDINGS } from './finding-codes.ts';
export { renderDoctor } from './render-doctor.ts';
export { DOCTOR_SECTIONS } from './sections.ts';
