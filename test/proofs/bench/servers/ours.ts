/**
 * Our receiver as users start it. BENCH_INBOX is the URL of its inbox. Without an inbox, the receiver only remembers
 * ids.
 */
import { type Inbox, memoryInbox, openInbox, startReceiver } from '../../../../receiver/index.ts';
import { API_KEY, announce, remember, SECRET } from './server-process.ts';

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
