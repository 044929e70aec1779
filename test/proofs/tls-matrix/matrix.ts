/** The four tables of the matrix, and the servers that their cells share. */
import type { Cell } from './cell.ts';
import { clientCells } from './client-cells.ts';
import { correctCells } from './correct-cells.ts';
import { createNginx, type Nginx } from './nginx.ts';
import { protocolCells } from './protocol-cells.ts';
import { serverCells } from './server-cells.ts';
import { openUpstream } from './servers.ts';

/** Receivers over plain HTTP behind nginx. */
export interface Upstreams {
  /** A receiver that does not check certificates. */
  readonly plain: () => ReturnType<typeof openUpstream>;
  /** A receiver that trusts the header of a proxy on this machine. */
  readonly behindProxy: () => ReturnType<typeof openUpstream>;
}

const TABLES = {
  servers: serverCells,
  clients: clientCells,
  protocols: protocolCells,
  correct: correctCells,
} as const satisfies Record<string, (nginx: Nginx, upstreams: Upstreams) => Cell[]>;

export type TableName = keyof typeof TABLES;

export interface OpenTable {
  readonly cells: readonly Cell[];
  /** Closes the servers that cells share. Each cell closes its own. */
  close(): Promise<void>;
}

/** Opens a table. Servers are started when the first cell needs them. */
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
