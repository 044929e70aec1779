/** Operates many partners: the schedule of the runs, their queue, and the notices. */

export { listWorkers, type WorkerRow } from './lease.ts';
export { type DeliverNoticeOptions, deliverNotice, dueNotices, noticeJob, planNotices } from './notice-table.ts';
export { type OperatorOptions, openQueue, operate, type Session } from './operator.ts';
export { dueSlots, kindOf, type PlannedPartner, queueOf, quietUntil, type RunKind, type Slot, slotAt } from './plan.ts';
export {
  addJobs,
  countJobs,
  type DeadLetter,
  deadLetters,
  hasQueue,
  type Job,
  type ListedJob,
  listJobs,
  type NewJob,
  type QueueCounts,
  replaceJob,
  retryDeadLetter,
} from './queue.ts';
export {
  type CertificateFiles,
  certificateBySha,
  hasResult,
  newestCertificate,
  plannedPartners,
  type Result,
  storeResult,
} from './results.ts';
