/**
 * Our receiver, through its Express app as it is served. BENCH_INBOX names its inbox; without it, it keeps nothing but
 * ids.
 */
import { type Inbox, memoryInbox, openInbox, startReceiver } from '../../../../receiver/index.ts';
import { remember } from './known-ids.ts';
import { API_KEY, announce, SECRET } from './serve-variant.ts';

let commits = 0;
const meter = {
  stored() {},
  handled() {},
  committed() {
    commits += 1;
  },
};

const idsOnly: Inbox = { ...memoryInbox(), put: async ({ notification: { id } }) => remember(id) };

const url = process.env.BENCH_INBOX;
const { port } = await startReceiver({
  signing: { secrets: [SECRET] },
  apiKey: { keys: [API_KEY] },
  path: '/hooks',
  inbox: url === undefined ? idsOnly : await openInbox(url, { meter }),
  meter,
});
announce(port, () => commits);
