/** The four tables, and what their cells share. */
import type { Cell } from './cell.ts';
import { clientCells } from './client-cells.ts';
import { rightCells } from './correct-cells.ts';
import { createNginx, type Nginx } from './nginx.ts';
import { protocolCells } from './protocol-cells.ts';
import { serverCells } from './server-cells.ts';
import { openUpstream } from './servers.ts';

/** Receivers over plain HTTP, to which nginx passes on what it takes. */
export interface Upstreams {
  /** Knows nothing of certificates. */
  readonly plain: () => ReturnType<typeof openUpstream>;
  /** Takes the word of a proxy on this machine for them. */
  readonly behindProxy: () => ReturnType<typeof openUpstream>;
}

const TABLES = {
  servers: serverCells,
  clients: clientCells,
  protocols: protocolCells,
  right: rightCells,
} as const satisfies Record<string, (nginx: Nginx, upstreams: Upstreams) => Cell[]>;

export type TableName = keyof typeof TABLES;

export interface OpenTable {
  readonly cells: readonly Cell[];
  /** Closes what the cells share; each cell closes its own. */
  close(): Promise<void>;
}

/** Nothing is started before the first cell needs it. */
export function openTable(name: TableName): OpenTable {
  const nginx = createNginx();
  const started: ReturnType<typeof openUpstream>[] = [];
  const once = (open: () => ReturnType<typeof openUpstream>) => {
    let opened: ReturnType<typeof openUpstream> | undefined;
    return () => {
      if (opened === undefined) {
        opened = open();
        started.push(opened);
      }
      return opened;
    };
  };
  const proxies = { from: 'proxy', proxies: ['127.0.0.1'], header: 'X-SSL-Client-Verify', value: 'SUCCESS' } as const;
  const upstreams: Upstreams = {
    plain: once(() => openUpstream()),
    behindProxy: once(() => openUpstream({ clientCertificate: proxies })),
  };
  return {
    cells: TABLES[name](nginx, upstreams),
    async close() {
      await nginx.close();
      for (const upstream of started) await (await upstream).close();
    },
  };
}
