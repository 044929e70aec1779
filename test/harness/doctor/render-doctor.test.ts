import { describe, expect, it } from 'vitest';
import { doctorDocument } from '../../../harness/doctor/doctor-document.ts';
import { type DoctorDocument, type DoctorSection, renderDoctor } from '../../../harness/doctor/index.ts';

const certificate = {
  subject: 'CN=hooks.partner.example',
  issuer: 'O=Example, CN=Example Issuing CA',
  hosts: ['hooks.partner.example'],
  commonName: 'hooks.partner.example',
  notBefore: '2026-01-01T00:00:00.000Z',
  notAfter: '2026-11-01T00:00:00.000Z',
  key: { kind: 'ec', bits: 256, curve: 'P-256' },
  signature: 'ecdsa-sha256',
  authority: false,
  pathLength: null,
  usages: ['serverAuth'],
  fingerprint: 'aa',
  keyFingerprint: 'bb',
  issuerUrl: null,
  selfIssued: false,
  mustStaple: false,
} as const;
const timings = { connectMs: 12, tlsMs: 31, firstByteMs: 44, totalMs: 45.2 };

/** Creates a section that was examined. */
const examined = (id: string, title: string, facts: object, findings: readonly object[] = []) =>
  ({ id, title, state: 'examined', reason: '', facts, findings }) as unknown as DoctorSection;

const sections: DoctorSection[] = [
  examined('dns', 'DNS', {
    host: 'hooks.partner.example',
    literal: false,
    addresses: [
      { address: '198.18.4.7', family: 4, scope: 'special' },
      { address: '2606:4700::1111', family: 6, scope: 'public' },
    ],
    ms: 12.4,
    error: null,
  }),
  examined(
    'connection',
    'Connection',
    {
      port: 443,
      addresses: [
        { address: '198.18.4.7', family: 4, outcome: 'connected', ms: 18.2, code: null },
        { address: '2606:4700::1111', family: 6, outcome: 'unreachable', ms: 0.4, code: 'ENETUNREACH' },
      ],
      notTried: 0,
    },
    [
      {
        severity: 'info',
        code: 'some-addresses-fail',
        title: 'Some addresses do not accept a connection: 2606:4700::1111 (unreachable).',
        detail: 'This machine has no IPv6, so nothing can be said about these addresses.',
        fix: null,
      },
    ],
  ),
  examined(
    'tls',
    'TLS',
    {
      hellos: [
        { version: 'TLSv1.2', outcome: 'granted', detail: null },
        { version: 'TLSv1.3', outcome: 'granted', detail: null },
      ],
      negotiated: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', alpn: 'http/1.1' },
      trusted: false,
      trustCode: 'CERT_HAS_EXPIRED',
      privateCa: false,
      chain: {
        certificates: [
          { ...certificate, usages: ['serverAuth'], hosts: ['hooks.partner.example'], role: 'leaf' },
          {
            ...certificate,
            usages: null,
            hosts: [],
            subject: 'O=Example, CN=Example Issuing CA',
            commonName: 'Example Issuing CA',
            notAfter: '2031-01-01T00:00:00.000Z',
            key: { kind: 'rsa', bits: 2048, curve: null },
            signature: 'rsa-sha256',
            role: 'intermediate',
          },
        ],
        path: [0, 1],
        anchor: 'O=Example, CN=Example Root',
        exact: true,
        faults: [{ code: 'expired', at: 0, text: 'The leaf CN=hooks.partner.example expired.' }],
        daysLeft: -20,
        checkedAt: '2026-11-21T12:00:00.000Z',
      },
      clientCertificateRequested: true,
      requestedCas: ['CN=Example Client CA'],
      error: null,
    },
    [
      {
        severity: 'problem',
        code: 'expired',
        title: 'The leaf CN=hooks.partner.example expired on 2026-11-01, 20 days ago.',
        detail: '',
        fix: 'Renew the certificate, and install the new one together with its chain.',
      },
    ],
  ),
  examined('client-certificate', 'Client certificate', {
    certificateFrom: '--client-cert',
    keyFrom: '--client-key',
    certificates: [{ ...certificate, usages: ['clientAuth'], hosts: [], notAfter: '2026-12-31T00:00:00.000Z' }],
    pair: true,
    requested: true,
    caNamed: true,
    with: { outcome: 'answered', evidence: 'HTTP 405' },
    without: { outcome: 'closed', evidence: 'the connection was closed after the handshake, without an answer' },
  }),
  examined('http', 'HTTP', {
    method: 'OPTIONS',
    answer: { status: 405, server: 'nginx', allow: 'POST', location: null },
    error: null,
    timings,
    verified: false,
  }),
  examined(
    'clock',
    'Clock',
    {
      aheadMs: 260_000,
      uncertaintyMs: 512,
      endpointTime: '2026-11-21T12:00:00.500Z',
      localTime: '2026-11-21T12:04:20.500Z',
    },
    [
      {
        severity: 'advice',
        code: 'clock-skew',
        title: "The clock of this machine is 4 minutes ahead of the endpoint's.",
        detail: 'Whether a certificate is valid is judged by the local clock on each side.',
        fix: 'Find out which of the two is wrong (`timedatectl`, `date -u`), and have both set by NTP.',
      },
    ],
  ),
  {
    id: 'delivery',
    title: 'Delivery',
    state: 'skipped',
    reason: 'not requested; use --deliver to send one',
    facts: null,
    findings: [],
  },
  examined('secret', 'HMAC secret', {
    from: 'HOOKPROOF_SECRET',
    characters: 44,
    bytes: 44,
    looksLike: ['base64'],
    decodedBytes: 32,
  }),
  { id: 'api-key', title: 'API key', state: 'skipped', reason: 'none is configured', facts: null, findings: [] },
];

const document: DoctorDocument = {
  schemaVersion: 1,
  tool: { name: 'hookproof', version: '0.1.0' },
  url: 'https://hooks.partner.example/webhooks',
  reached: true,
  interrupted: false,
  startedAt: '2026-11-21T12:00:00.000Z',
  durationMs: 120,
  counts: { problem: 1, advice: 1, info: 1 },
  sections,
};

const render = (columns: number, options: object = {}) =>
  renderDoctor(document, { columns, color: false, unicode: true, ...options });

describe('the report of the doctor in a terminal', () => {
  it('is tested with a valid document', () => {
    expect(doctorDocument.parse(document)).toEqual(document);
  });

  it.each([40, 80, 120])('fits %i columns', async (columns) => {
    const text = render(columns);
    await expect(text).toMatchFileSnapshot(`snapshots/doctor-${columns}.txt`);
    for (const line of text.split('\n')) expect([line, [...line].length <= columns]).toEqual([line, true]);
  });

  it('is pure ASCII on a terminal without Unicode', () => {
    expect(render(80, { unicode: false })).toMatch(/^[\x20-\x7e\n]+$/);
    expect(render(80, { unicode: false })).toContain('`- CN=Example Issuing CA');
  });

  it('has the same text with and without colour', () => {
    const plain = render(80);
    const painted = render(80, { color: true });
    expect(plain).not.toContain('\x1b');
    expect(painted).toContain('\x1b[31m');
    expect(painted.replace(/\x1b\[\d+m/g, '')).toBe(plain);
  });

  it('states an interruption, and that nothing was found', () => {
    const nothing = { ...document, counts: { problem: 0, advice: 0, info: 0 }, sections: [], interrupted: true };
    expect(renderDoctor(nothing, { columns: 120, color: false, unicode: true })).toContain(
      'Interrupted: these are the findings so far. Nothing found.',
    );
  });
});
