/** The receivers that are measured, from bare node:http to ours with a durable inbox. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { newDatabase } from '../../setup/postgres.ts';

export interface ReceiverVariant {
  readonly name: string;
  readonly program: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The URL of an inbox with nothing in it. */
  readonly inbox?: () => Promise<string> | string;
  /** A database needs processor time as well: the load then sleeps between answers. */
  readonly hasServer?: true;
}

const bare = (work: string) => ({ program: 'servers/bare-node.ts', env: { BENCH_WORK: work } });

export const REPLY: ReceiverVariant = { name: 'node:http, reply only', ...bare('reply') };
export const CREDENTIALS: ReceiverVariant = { name: 'node:http + API key + HMAC', ...bare('credentials') };
export const EVERYTHING: ReceiverVariant = { name: 'node:http + API key + HMAC + parse + zod', ...bare('everything') };
export const OURS: ReceiverVariant = { name: 'ours, without storage', program: 'servers/ours.ts' };
export const FASTIFY: ReceiverVariant = { name: 'Fastify, the same checks', program: 'servers/fastify.ts' };
export const EXPRESS: ReceiverVariant = {
  name: 'Express as most people write it',
  program: 'servers/express-as-usual.ts',
};

/** Ours, and what most people write, on a file of SQLite. */
export function onSqlite(folder: string): { ours: ReceiverVariant; express: ReceiverVariant } {
  const inbox = () => `file:${join(folder, `${randomUUID()}.db`)}`;
  return {
    ours: { ...OURS, name: 'ours, SQLite', inbox },
    express: { ...EXPRESS, name: 'Express as most people write it, SQLite, one commit a request', inbox },
  };
}

export function onPostgres(serverUrl: string): ReceiverVariant {
  return { ...OURS, name: 'ours, PostgreSQL', inbox: () => newDatabase(serverUrl), hasServer: true };
}
