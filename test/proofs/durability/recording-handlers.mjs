// Handlers for `hookproof receiver --handlers` that record when they start and end. The records survive a SIGKILL.
import { existsSync, openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const file = openSync(process.env.HANDLED_FILE, 'a');
// Handlers wait until this file exists.
const gate = process.env.HANDLER_GATE_FILE ?? '';
const takesMs = Number(process.env.HANDLER_MS ?? 0);

/** One write for each line, so that with O_APPEND the lines of several processes do not mix. */
function record(word, { id, data }, { attempt }) {
  const at = process.hrtime.bigint() / 1000n;
  writeSync(file, `${word} ${process.pid} ${id} ${attempt} ${data.transactionId} ${at}\n`);
}

export const handlers = {
  async CAAS_ORDER_TRACKING(notification, context) {
    record('start', notification, context);
    while (gate !== '' && !existsSync(gate)) await pause(5);
    if (takesMs > 0) await pause(takesMs);
    record('end', notification, context);
  },
};
