// Handlers that write down when they begin and end, in a way that survives the death of the process: for `hookproof receiver --handlers`.
import { existsSync, openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const file = openSync(process.env.HANDLED_FILE, 'a');
// Until this file is there, handlers begin and do not end.
const gate = process.env.HANDLER_GATE ?? '';
const takesMs = Number(process.env.HANDLER_MS ?? 0);

/** One write a line: with O_APPEND, lines of several processes do not mix. The clock is the same for all processes of a machine. */
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
