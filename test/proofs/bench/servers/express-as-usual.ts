/**
 * Express as it is usually written: `express.raw`, the signature, zod, `res.json`. With BENCH_INBOX (a file: URL) each
 * request is an INSERT with its own commit, before the answer.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import express from 'express';
import { readNotification } from '../../../../contract/index.ts';
import { openSqlite } from '../../../../receiver/inbox/sqlite-database.ts';
import { API_KEY, SECRET, serveVariant } from './server-process.ts';

/** Keeps a reference: the package closes an unreferenced database, even while its statements are in use. */
const open: unknown[] = [];

const app = express();
const insert = await openStore(process.env.BENCH_INBOX);

app.post('/hooks', express.raw({ type: 'application/json' }), (req, res) => {
  if (req.get('X-API-Key') !== API_KEY) return void res.status(401).json({ error: 'unauthorized' });
  const expected = createHmac('sha256', SECRET).update(req.body).digest();
  const presented = Buffer.from(req.get('X-Service-Signature') ?? '', 'base64');
  if (presented.length !== expected.length || !timingSafeEqual(presented, expected)) {
    return void res.status(401).json({ error: 'unauthorized' });
  }
  const reading = readNotification(JSON.parse(req.body.toString()));
  if (!reading.ok) return void res.status(400).json({ issues: reading.issues });
  insert(reading.notification.id, req.body);
  res.json({ status: 'accepted' });
});
serveVariant(createServer(app));

async function openStore(url: string | undefined): Promise<(id: string, body: Buffer) => void> {
  if (url === undefined) return () => {};
  const { database } = await openSqlite(url.slice('file:'.length));
  database.exec('CREATE TABLE received (id TEXT PRIMARY KEY, received_at INTEGER, body BLOB)');
  open.push(database);
  const statement = database.prepare('INSERT INTO received VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING');
  return (id, body) => void statement.run(id, Date.now(), body);
}
