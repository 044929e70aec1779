/** Serves a proxy that delays everything by BENCH_DELAY_MS on its way to and from BENCH_TARGET_PORT. */
import { startDelayingProxy } from '../../../endpoints/delaying-proxy.ts';
import { announce } from './server-process.ts';

const { port } = await startDelayingProxy(Number(process.env.BENCH_TARGET_PORT), Number(process.env.BENCH_DELAY_MS));
announce(port);
