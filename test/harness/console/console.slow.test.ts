/** The console over HTTP: its answers, and who may do what. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type ConsoleQueue, Tokens } from '../../../harness/console/index.ts';
import { insertRecords, refreshStandings } from '../../../harness/register/index.ts';
import { addOperation, certified, ended, HOSTILE, openRegistered, type Registered, TOKENS } from './registered.ts';

const server = inject('postgresUrl');

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Sends a request. Unlike fetch, it sends any path and any Host header. */
function ask(
  base: string,
  path: string,
  { body, headers = {}, method = 'GET' }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers }, (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (part) => {
        text += part;
      });
      res.on('end', () => resolve({ status: res.statusCode ?? 0, text, headers: res.headers }));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

describe.skipIf(server === null)('the console', () => {
  let site: Registered;
  const queued: string[] = [];
  const queue: ConsoleQueue = {
    async runAt(_client, { host, partner }, at) {
      queued.push(`${partner} ${host} ${at.toISOString()}`);
    },
  };
  beforeAll(async () => {
    site = await openRegistered(server ?? '', { queue });
  });
  afterAll(() => site?.close());

  const get = (path: string, headers: Record<string, string> = {}) => ask(site.url, path, { headers });
  const json = async (path: string) => JSON.parse((await get(path)).text);
  const form = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    ask(site.url, path, {
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: site.url, ...headers },
    });
  const post = (path: string, body: unknown, token?: string) =>
    ask(site.url, path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'Content-Type': 'application/json',
        ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      },
    });
  const auditCount = async () => Number((await site.pool.query('SELECT count(*) FROM hookproof_audit')).rows[0].count);
  const stateOf = async (partner: string) => (await json(`/api/partners/${partner}`)).state;

  it('says who may get traffic now', async () => {
    const states = { acme: 'certified', bad: 'failing', moved: 'drifted', leaked: 'revoked', old: 'expired' };
    for (const [partner, state] of Object.entries(states)) {
      expect(await json(`/api/partners/${partner}`)).toMatchObject({ state, mayGetTraffic: state === 'certified' });
    }
    expect(await json('/api/totals')).toEqual({
      ...{ certified: 62, allowed: 0, failing: 2, drifted: 1, revoked: 1, expired: 1, uncertified: 1 },
    });
    expect((await get('/')).text).toContain('62 of 68 partners may get traffic');
    expect((await get('/api/partners/nobody')).status).toBe(404);
  });

  it('sorts, searches and pages in the database, each partner once', async () => {
    for (const sort of ['need', 'name', 'until', 'last', 'host', 'cause']) {
      for (const order of ['asc', 'desc']) {
        const seen: string[] = [];
        let after = '';
        do {
          const page = await json(`/api/partners?sort=${sort}&order=${order}&limit=7&after=${after}`);
          seen.push(...page.partners.map(({ partner }: { partner: string }) => partner));
          after = page.next;
        } while (after !== null);
        expect([seen.length, new Set(seen).size], `${sort} ${order}`).toEqual([68, 68]);
      }
    }
    const named = async (query: string): Promise<string[]> =>
      (await json(`/api/partners?${query}`)).partners.map(({ partner }: { partner: string }) => partner);
    expect(await named('q=ACM')).toEqual(['acme']);
    expect(await named('q=unsigned&sort=name')).toEqual(['acme', 'bad']);
    expect(await named('state=revoked&state=drifted&sort=name')).toEqual(['leaked', 'moved']);
    expect(await named('within=14')).toEqual(['soon']);
    expect((await get('/expiring')).text).toContain('soon');
  });

  it.each(["'", "' OR 1=1 --", '%', '_', '\\', "'; DROP TABLE hookproof_audit; --", '$1', '\u0000'])(
    'takes a search for %j as text',
    async (q) => {
      const answer = await get(`/api/partners?q=${encodeURIComponent(q)}`);
      expect(answer.status).toBe(q === '\u0000' ? 400 : 200);
      if (answer.status === 200)
        expect(JSON.parse(answer.text).partners.map((one: { partner: string }) => one.partner)).toEqual(
          q === "'" || q === '%' ? ['hostile'] : [],
        );
      expect(await auditCount()).toBeGreaterThanOrEqual(0);
    },
  );

  it.each([
    '/?sort=name;DROP%20TABLE%20hookproof_audit',
    '/?sort=__proto__',
    '/?order=asc,partner',
    '/?state=certified%27',
    '/?limit=1000000',
    '/?after=bm90IGpzb24',
    `/?sort=until&after=${Buffer.from('["x; DROP TABLE hookproof_audit","a"]').toString('base64url')}`,
    `/?sort=need&after=${Buffer.from('["99999999999","a"]').toString('base64url')}`,
    '/partners/acme?event=x',
    `/partners/acme?after=${Buffer.from('["now","1 OR 1=1"]').toString('base64url')}`,
    '/trends?weeks=1e9',
    '/audit?after=1%20OR%201=1',
    '/api/partners?sort=1',
  ])('refuses the query %s', async (path) => {
    const { status, text } = await get(path);
    expect(status).toBe(400);
    expect(text).not.toMatch(/syntax|SELECT|hookproof_standing/);
    expect(site.errors).toEqual([]);
  });

  it('never interprets what is in the register as markup', async () => {
    const paths = ['/', '/?q=hostile', '/?sort=cause', '/partners/hostile', '/trends', '/partners/hostile?done=x'];
    for (const path of [...paths, `/?q=${encodeURIComponent(HOSTILE)}`]) {
      const { headers, text } = await get(path);
      expect(text).not.toMatch(/<script|<img/i);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self';/);
      expect(headers['set-cookie']).toBeUndefined();
    }
    expect((await get('/partners/hostile')).text).toContain('&lt;script&gt;alert(1)');
    expect((await get('/partners/%3Cscript%3E')).text).not.toContain('<script');
    expect((await get('/%3Cscript%3Ealert(1)%3C/script%3E')).text).not.toContain('<script');
  });

  it('serves the files of a run as pages that can do nothing', async () => {
    const { headers, status, text } = await get('/partners/acme/files/current/report.html');
    expect([status, text.startsWith('<!doctype html>')]).toEqual([200, true]);
    expect(headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/);
    const page = (await get('/partners/acme')).text;
    expect(page).toContain('/partners/acme/files/current/report.html');
    expect(page).toContain('/partners/acme/files/before-2026-11-20T00-00-00-000Z/run.json');
    const compared = await get('/partners/acme/compare?before=before-2026-11-20T00-00-00-000Z&now=current');
    expect(compared.status).toBe(200);
    expect(compared.text).toContain('Old run');
    expect((await get('/partners/soon/compare?before=current&now=current')).status).toBe(409);
  });

  it.each([
    '/partners/acme/files/current/secret.txt',
    '/partners/acme/files/current/..%2f..%2fsecret.txt',
    '/partners/acme/files/current/%2e%2e',
    '/partners/acme/files/..%2f/secret.txt',
    '/partners/acme/files/%2e%2e/secret.txt',
    '/partners/acme/files/../../secret.txt',
    '/partners/..%2f..%2fetc/files/current/run.json',
    '/partners/%2e%2e/files/acme/run.json',
    '/partners/_earlier/files/current/run.json',
    '/partners/bad/files/current/run.json',
    '/partners/acme/files/current/constructor',
    '/partners/acme/compare?before=..%2f..&now=current',
    '/partners/acme/compare?before=current&now=current%2f..%2f..%2fbad',
  ])('does not leave the output folder for %s', async (path) => {
    const { status, text } = await get(path);
    expect(status).toBe(404);
    expect(text).not.toContain('top secret');
  });

  it('answers only to its own host, only to its own pages, and only to GET and POST', async () => {
    for (const Host of ['attacker.example', '192.0.2.1', 'localhost.attacker.example', '[::2]']) {
      expect((await get('/api/partners', { Host })).status, Host).toBe(421);
    }
    expect((await get('/', { Host: 'localhost' })).status).toBe(200);
    expect((await get('/api/partners', { Origin: 'https://attacker.example' })).status).toBe(403);
    expect((await get('/api/partners', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' })).status).toBe(
      403,
    );
    expect((await get('/', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' })).status).toBe(200);
    expect((await ask(site.url, '/', { method: 'DELETE' })).status).toBe(405);
  });

  it('changes nothing without a token, or for another site', async () => {
    const before = await auditCount();
    const fields = { reason: 'test', token: TOKENS.alice };
    expect((await form('/partners/acme/revoke', { ...fields, token: '' })).status).toBe(401);
    expect((await form('/partners/acme/revoke', { ...fields, token: 'a'.repeat(23) })).status).toBe(401);
    expect((await form('/partners/acme/revoke', { ...fields, token: 'x'.repeat(24) })).status).toBe(401);
    for (const headers of [
      { Origin: 'https://attacker.example' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' },
      { Host: 'attacker.example' },
    ]) {
      expect((await form('/partners/acme/revoke', fields, headers)).status).toBeGreaterThanOrEqual(403);
    }
    expect((await post('/api/partners/acme/revoke', { reason: 'test' })).status).toBe(401);
    expect((await post('/api/partners/acme/revoke', { reason: 'test' }, 'wrong')).status).toBe(401);
    // The password that a browser adds automatically is not enough.
    const basic = `Basic ${Buffer.from(`alice:${TOKENS.alice}`).toString('base64')}`;
    expect((await form('/partners/acme/revoke', { reason: 'test' }, { Authorization: basic })).status).toBe(401);
    expect((await get(`/partners/acme/revoke?reason=test&token=${TOKENS.alice}`)).status).toBe(404);
    expect((await post('/api/partners/acme/revoke', { reason: '' }, TOKENS.alice)).status).toBe(400);
    expect((await post('/api/partners/acme/revoke', { reason: 'x'.repeat(20_000) }, TOKENS.alice)).status).toBe(413);
    expect(await stateOf('acme')).toBe('certified');
    expect(await auditCount()).toBe(before);
  });

  it('revokes and overrides with a token, and says who did', async () => {
    const done = await form('/partners/bad/override', { reason: 'fixed on Monday', token: TOKENS.bob, days: '7' });
    expect([done.status, done.headers.location]).toEqual([303, '/partners/bad?done=override']);
    expect(await json('/api/partners/bad')).toMatchObject({ state: 'allowed', reason: 'fixed on Monday' });
    expect((await post('/api/partners/many-00/revoke', { reason: 'leaked key' }, TOKENS.alice)).status).toBe(204);
    expect(await stateOf('many-00')).toBe('revoked');
    expect((await json('/api/partners?state=revoked')).partners).toHaveLength(2);
    expect((await json('/api/audit')).entries).toMatchObject([
      { who: 'alice', action: 'revoke', partner: 'many-00', reason: 'leaked key' },
      { who: 'bob', action: 'override', partner: 'bad', reason: 'fixed on Monday' },
    ]);
    for (const path of ['/audit', '/partners/bad']) expect((await get(path)).text).toContain('bob');
    // A certified partner needs no override, so nothing is stored.
    const refused = await form('/partners/soon/override', { reason: 'why not', token: TOKENS.bob });
    expect([refused.status, refused.text.includes('only a failure or a drift can be overridden')]).toEqual([409, true]);
    expect(await auditCount()).toBe(2);
    expect((await get('/audit')).text).not.toContain(TOKENS.bob);
  });

  it('follows the records of other programs, and believes no forged row', async () => {
    await insertRecords(site.pool, [
      ended('many-01', -0.01, 'drifted', { reason: 'another key' }),
      certified('late', -1),
    ]);
    const [row] = (await json('/api/partners?q=many-01')).partners;
    expect(row).toMatchObject({ state: 'drifted', mayGetTraffic: false });
    await site.pool.query(
      `UPDATE hookproof_standing SET state = 'certified', until = now() + interval '1 year' WHERE partner = 'leaked'`,
    );
    const [forged] = (await json('/api/partners?q=leaked')).partners;
    expect(forged).toMatchObject({
      ...{ state: 'uncertified', mayGetTraffic: false },
      warnings: [expect.stringContaining('says that leaked is certified')],
    });
    expect(await stateOf('leaked')).toBe('revoked');
  });

  it('lists the records of a partner, and the causes of all by week', async () => {
    const page = await json('/api/partners/acme/records?limit=2');
    expect(page.records.map(({ event }: { event: string }) => event)).toEqual(['certified', 'failed']);
    const rest = await json(`/api/partners/acme/records?limit=2&after=${page.next}`);
    expect(rest).toMatchObject({ next: null, records: [{ event: 'certified' }] });
    expect(JSON.stringify([page, rest])).not.toContain('payloadType');
    expect((await json('/api/partners/acme/records?event=failed')).records).toHaveLength(1);
    expect((await get('/trends')).text).toContain('Accepts unsigned requests');
  });

  it('describes its API, and every path of the document answers', async () => {
    const document = await json('/api/openapi.json');
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.components.schemas).toSorted()).toEqual([
      ...['AuditEntry', 'AuditPage', 'Partner', 'PartnerPage', 'Problem', 'Record', 'RecordPage', 'Totals'],
    ]);
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      expect(document.components.schemas).toHaveProperty(name ?? '');
    }
    expect(text).not.toContain('$defs');
    for (const [path, item] of Object.entries<Record<string, unknown>>(document.paths)) {
      const real = path.replace('{name}', 'acme');
      if ('get' in item) expect((await get(real)).status, path).toBe(200);
      else expect((await post(real, {})).status, path).toBe(401);
    }
  });

  it('has metrics and health', async () => {
    const { text } = await get('/metrics');
    expect(text).toMatch(/hookproof_partners\{state="certified"\} \d+/);
    expect(text).toMatch(/hookproof_certificates_expiring [12]\n/);
    expect((await get('/healthz')).text).toBe('{"status":"ok"}');
  });

  it('has no queue before workers have used the database', async () => {
    expect((await get('/queue')).text).toContain('No worker has used this database.');
    expect((await post('/api/partners/acme/run-now', { reason: 'asked by phone' }, TOKENS.alice)).status).toBe(409);
    expect((await get('/partners/acme')).text).not.toContain('Run now');
  });

  it('starts a run now and at a time, and shows workers and jobs', async () => {
    await addOperation(site);
    expect((await post('/api/partners/acme/run-now', { reason: 'asked by phone' }, TOKENS.alice)).status).toBe(204);
    const at = new Date(Date.now() + 3_600_000).toISOString().slice(0, 16);
    const fields = { reason: 'release', at, token: TOKENS.alice };
    expect((await form('/partners/acme/reschedule', fields)).status).toBe(303);
    const earlier = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
    const refused = await form('/partners/acme/reschedule', { ...fields, at: earlier });
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(`${earlier}:00.000Z is in the past`)]);
    expect(queued).toEqual([expect.stringMatching(/^acme acme\.example /), `acme acme.example ${at}:00.000Z`]);
    const { text } = await get('/queue');
    for (const word of ['node-1', 'run of acme', '1 worker, 1 job running, 0 waiting, 1 later, 1 failed']) {
      expect(text).toContain(word);
    }
  });

  it('tells nothing about the database when it fails', async () => {
    await site.pool.query('ALTER TABLE hookproof_audit RENAME TO moved_away');
    const { status, text } = await get('/audit');
    await site.pool.query('ALTER TABLE moved_away RENAME TO hookproof_audit');
    expect([status, /hookproof_audit|relation/.test(text)]).toEqual([500, false]);
    expect(site.errors.splice(0)).toHaveLength(1);
  });

  it('needs a token for reading when others can reach it, and is read-only without tokens', async () => {
    const publicOrigin = 'https://console.example';
    const open = await openRegistered(server ?? '', { publicOrigin, port: 0 });
    const closed = await openRegistered(server ?? '', { tokens: Tokens.none });
    try {
      expect(open.url).toBe(publicOrigin);
      const body = new URLSearchParams({ reason: 'x', token: TOKENS.alice }).toString();
      const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const answer = await ask(closed.url, '/partners/acme/revoke', { method: 'POST', body, headers: type });
      expect(answer.status).toBe(403);
      expect((await ask(closed.url, '/partners/acme')).text).not.toContain('<form method="post"');
    } finally {
      await open.close();
      await closed.close();
    }
  });

  it('derives nothing anew for a list that is up to date', async () => {
    await refreshStandings(site.pool, [], { currentRevision: 1, now: new Date() }, []);
    const before = await site.pool.query("SELECT xmin::text FROM hookproof_standing WHERE partner = 'soon'");
    await get('/?q=soon');
    const after = await site.pool.query("SELECT xmin::text FROM hookproof_standing WHERE partner = 'soon'");
    expect(after.rows).toEqual(before.rows);
  });
});
