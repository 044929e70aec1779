/**
 * The only entry point from the harness to the receiver, for the commands that serve it or read its inbox. The server
 * and the mutants are loaded only if a command needs them, so `hookproof inbox` starts without them.
 */

export {
  ENTRY_STATES,
  type EntryFilter,
  type EntryState,
  type EntrySummary,
  type InboxArchive,
  type InboxEntry,
  openArchive,
} from '../../receiver/inbox/index.ts';
export type {
  ClientCertificateOption,
  DeliverySummary as ForwardedDelivery,
  EffectsRecord,
  Handlers,
  Inbox,
  ReceiverLogger,
  ServerLimits,
  ServerTimeouts,
  ServerTls,
} from '../../receiver/index.ts';

type Mutants = typeof import('../../mutants/index.ts');

export type ReceiverModule = typeof import('../../receiver/index.ts');
export type ListedFault = Mutants['FAULTS' | 'SCHEME_MUTANTS'][number];
export type FaultyReceiverOptions = Parameters<Mutants['startFaultyReceiver']>[1];
export type RunningFaultyReceiver = ReturnType<Mutants['startFaultyReceiver']>;

export const loadReceiver = () => import('../../receiver/index.ts');
export const loadMutants = () => import('../../mutants/index.ts');
