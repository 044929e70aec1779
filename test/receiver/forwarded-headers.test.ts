/** Headers that a proxy would set, set by whoever sends: they change nothing. */
import express from 'express';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createReceiver, type DeliveryReport, type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { API_KEY, buy, headersFor, SECRET } from './deliveries.ts';
import { openRaw } from './raw-http.ts';

const FORGED: Readonly<Record<string, string>> = {
  'X-Forwarded-For': '203.0.113.7, 127.0.0.1',
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-Host': 'elsewhere.example',
  'X-Forwarded-Port': '443',
  'X-Forwarded-Prefix': '/elsewhere',
  'X-Forwarded-Path': '/elsewhere',
  'X-Forwarded-Uri': '/elsewhere',
  'X-Forwarded-Method': 'GET',
  'X-Forwarded-Scheme': 'https',
  'X-Forwarded-Ssl': 'on',
  'X-Forwarded-User': 'admin',
  'X-Forwarded-Server': 'elsewhere.example',
  'X-Forwarded-Client-Cert': 'Hash=00;Subject="CN=sender.example"',
  'X-Forwarded': 'for=203.0.113.7',
  Forwarded: 'for=203.0.113.7;proto=https;host=elsewhere.example',
  'Forwarded-For': '203.0.113.7',
  'X-Real-IP': '203.0.113.7',
  'X-Client-IP': '203.0.113.7',
  'X-Cluster-Client-IP': '203.0.113.7',
  'X-Original-URL': '/elsewhere',
  'X-Rewrite-URL': '/elsewhere',
  'X-HTTP-Method-Override': 'GET',
  'X-Url-Scheme': 'https',
  'Front-End-Https': 'on',
  Via: '1.1 elsewhere.example',
};

/** What Express makes of a request, and what our own report says of it. Times and ids differ between any two. */
function seen({ request: req, outcome, status, reason, duplicate, secretIndex, keyIndex }: DeliveryReport) {
  const { ip, ips, protocol, secure, hostname, host, path, method, originalUrl } = req as unknown as Record<
    string,
    unknown
  >;
  const express = { ip, ips, protocol, secure, hostname, host, path, method, originalUrl };
  return { ...express, outcome, status, reason, duplicate, secretIndex, keyIndex };
}

describe('a forged header of a proxy', () => {
  let receiver: RunningReceiver;
  const reports: DeliveryReport[] = [];
  const lines: Record<string, unknown>[] = [];
  beforeAll(async () => {
    const add = (fields: object) => void lines.push({ ...fields });
    receiver = await startReceiver({
      signing: { secrets: [SECRET] },
      apiKey: { keys: [API_KEY] },
      path: '/hooks',
      observers: [(report) => void reports.push(report)],
      logger: { info: add, warn: add, error: add },
    });
  });
  afterAll(() => receiver.close());

  /** Sends one, and gives everything that came of it. */
  async function outcomeOf(line: string, changes: Record<string, string | undefined>, path: string) {
    const body = JSON.stringify(buy());
    const head = Object.entries(headersFor(body, changes)).map(([name, value]) => `${name}: ${value}\r\n`);
    const connection = await openRaw(receiver.port);
    const before = reports.length;
    await connection.write(
      `POST ${path} HTTP/1.1\r\nHost: here.example\r\n${line}Content-Length: ${Buffer.byteLength(body)}\r\n${head.join('')}\r\n${body}`,
    );
    const answer = await connection.answer();
    connection.socket.destroy();
    await vi.waitFor(() => expect(reports).toHaveLength(before + 1));
    const { id: _id, durationMs: _durationMs, ...logged } = lines.at(-1) ?? {};
    const headers = answer.headers.filter((name) => !name.startsWith('Date: '));
    return { answer: { ...answer, headers }, logged, seen: seen(reports.at(-1) as DeliveryReport) };
  }

  it.each(Object.entries(FORGED))('%s changes nothing', async (name, value) => {
    for (const [changes, path] of [
      [{}, '/hooks'],
      [{ 'X-API-Key': 'wrong' }, '/hooks'],
      [{}, '/other'],
    ] as const) {
      const plain = await outcomeOf('', changes, path);
      expect(await outcomeOf(`${name}: ${value}\r\n`, changes, path)).toEqual(plain);
      expect(plain.seen).toMatchObject({ ip: '127.0.0.1', protocol: 'http', hostname: 'here.example', path });
    }
  });

  it('all of them together change nothing either', async () => {
    const all = Object.entries(FORGED).map(([name, value]) => `${name}: ${value}\r\n`);
    expect(await outcomeOf(all.join(''), {}, '/hooks')).toEqual(await outcomeOf('', {}, '/hooks'));
  });
});

it('also within an application that trusts its proxies, where everything else believes them', async () => {
  const outer = express();
  outer.set('trust proxy', true);
  outer.get('/ip', (req, res) => void res.json([req.ip, req.protocol]));
  const reports: DeliveryReport[] = [];
  const receiver = createReceiver({ open: true, observers: [(report) => void reports.push(report)] });
  outer.use('/hooks', receiver.app);
  const forged = { 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Proto': 'https' };
  expect((await request(outer).get('/ip').set(forged)).body).toEqual(['203.0.113.7', 'https']);
  await request(outer).post('/hooks').set(forged).send(buy()).expect(200);
  await vi.waitFor(() => expect(reports).toHaveLength(1));
  const { ip, protocol } = seen(reports[0] as DeliveryReport);
  // By now the connection may have ended, and then there is no address.
  expect([ip === '203.0.113.7', protocol]).toEqual([false, 'http']);
});
