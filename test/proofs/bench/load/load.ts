/**
 * The process that makes the load. Signs its requests once, then runs the phases that it is told to over its channel.
 */
import { type Phase, runPhase } from './phase.ts';
import { type Credentials, signedRequests } from './requests.ts';

export interface LoadSettings {
  readonly requests: number;
  readonly credentials: Credentials;
}

const settings = JSON.parse(process.env.BENCH_LOAD ?? '{}') as LoadSettings;
const requests = signedRequests(settings.requests, settings.credentials);

process.on('message', async (phase: Phase) => process.send?.(await runPhase(requests, phase)));
process.on('disconnect', () => process.exit());
process.send?.('ready');
