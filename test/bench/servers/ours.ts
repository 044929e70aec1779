/** Our receiver, through its Express app as it is served. BENCH_INBOX names its inbox; without it, it keeps nothing but ids. */
import { type Inbox, memoryInbox, openInbox, startReceiver } from '../../../receiver/index.ts';
import { API_KEY, announce, SECRET } from './serve-variant.ts';

let commits = 0;
const meter = {
  stored() {},
  handled() {},
  committed() {
    commits += 1;
  },
};

/** What a receiver without a store has to know to answer: whether an id is new. */
function idsOnly(): Inbox {
  const ids = new Set<string>();
  return {
    ...memoryInbox(),
    async put({ notification: { id } }) {
      if (ids.has(id)) return 'duplicate';
      ids.add(id);
      return 'stored';
    },
  };
}

const url = process.env.BENCH_INBOX;
const { port } = await startReceiver({
  signing: { secrets: [SECRET] },
  apiKey: { keys: [API_KEY] },
  path: '/hooks',
  inbox: url === undefined ? idsOnly() : await openInbox(url, { meter }),
  meter,
});
announce(port, () => commits);
