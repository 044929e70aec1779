/**
 * Serves the effects window over HTTP, for test environments only: runs a command with the query of each request.
 * `node effects-server.mjs node effects.mjs`
 * Environment: WEBHOOK_EFFECTS_TOKEN (16 characters or more), WEBHOOK_EFFECTS_PORT (3001).
 */
import { execFile } from 'node:child_process';
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { WEBHOOK_EFFECTS_TOKEN = '', WEBHOOK_EFFECTS_PORT = '3001' } = process.env;
if (WEBHOOK_EFFECTS_TOKEN.length < 16) throw new Error('Set WEBHOOK_EFFECTS_TOKEN to 16 characters or more.');
const [program, ...args] = process.argv.slice(2);
if (program === undefined) throw new Error('Give the command that answers: node effects-server.mjs node effects.mjs');
const digest = (text) => createHash('sha256').update(text).digest();

createServer(({ method, url, headers }, res) => {
  const answer = (status, body) => res.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  const isAllowed = timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${WEBHOOK_EFFECTS_TOKEN}`));
  if (!isAllowed) return answer(401, '{"error":"unauthorized"}');
  // Percent-encoded, without shell metacharacters, because ssh starts a shell on the other machine.
  const [, query = ''] = /^\/effects\?((?:notification|transaction)=[\w.%,-]+)$/.exec(url) ?? [];
  if (method !== 'GET' || query === '' || query.split(',').length > 50) return answer(400, '{"error":"not a query"}');
  execFile(program, [...args, query], { maxBuffer: 8 * 1024 * 1024 }, (error, stdout) => {
    if (error !== null) console.error(error.message);
    answer(...(error === null ? [200, stdout] : [500, '{"error":"the command failed"}']));
  });
}).listen(Number(WEBHOOK_EFFECTS_PORT), '127.0.0.1', () => {
  console.log(`effects on http://127.0.0.1:${WEBHOOK_EFFECTS_PORT}/effects`);
});
