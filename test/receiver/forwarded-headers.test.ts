/** Proxy headers that a sender forges have no effect. */
import express from 'express';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createReceiver, type DeliveryReport, type RunningReceiver, startReceiver } from '../../receiver/index.ts';
import { API_KEY, buy, headersFor, SECRET } from './deliveries.ts';
import { collectLogs } from './logs.ts';
import { exchange, rawPost } from './raw-http.ts';

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

/** Returns how Express and the report see a delivery, without times and ids. */
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
  const { logger, lines } = collectLogs();
  beforeAll(async () => {
    receiver = await startReceiver({
      signing: { secrets: [SECRET] },
      apiKey: { keys: [API_KEY] },
      path: '/hooks',
      observers: [(report) => void reports.push(report)],
      logger,
    });
  });
  afterAll(() => receiver.close());

  /** Returns all results of a delivery: the response, the log line and the report. */
  async function outcomeOf(forged: Record<string, string>, changes: Record<string, string | undefined>, path: string) {
    const body = JSON.stringify(buy());
    const before = reports.length;
    const answer = await exchange(receiver.port, rawPost(body, { ...forged, ...headersFor(body, changes) }, path));
    await vi.waitFor(() => expect(reports).toHaveLength(before + 1), 120_000);
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
      const plain = await outcomeOf({}, changes, path);
      expect(await outcomeOf({ [name]: value }, changes, path)).toEqual(plain);
      expect(plain.seen).toMatchObject({ ip: '127.0.0.1', protocol: 'http', hostname: 'localhost', path });
    }
  });

  it('changes nothing together with all others', async () => {
    expect(await outcomeOf(FORGED, {}, '/hooks')).toEqual(await outcomeOf({}, {}, '/hooks'));
  });
});

it('has no effect inside an application that trusts its proxies', async () => {
  const outer = express();
  outer.set('trust proxy', true);
  outer.get('/ip', (req, res) => void res.json([req.ip, req.protocol]));
  const reports: DeliveryReport[] = [];
  const receiver = createReceiver({ open: true, observers: [(report) => void reports.push(report)] });
  outer.use('/hooks', receiver.app);
  const forged = { 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Proto': 'https' };
  expect((await request(outer).get('/ip').set(forged)).body).toEqual(['203.0.113.7', 'https']);
  await request(outer).post('/hooks').set(forged).send(buy()).expect(200);
  await vi.waitFor(() => expect(reports).toHaveLength(1), 120_000);
  const { ip, protocol } = seen(reports[0] as DeliveryReport);
  // If the connection has already ended, there is no address.
  expect([ip === '203.0.113.7', protocol]).toEqual([false, 'http']);
});
