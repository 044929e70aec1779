import { mergeConfig } from 'vitest/config';
import usual from './vitest.config.ts';

/** The long form of the tests that play a share in `npm test`: each of them asks for `whole`. */
const whole = mergeConfig(usual, { test: { provide: { whole: true } } });
whole.test.include = [
  'test/cli/{receiver-and-trigger,reproduce,secrets,wrong-as-a-whole}.test.ts',
  'test/harness/diagnose/rank-faults.test.ts',
];

export default whole;
