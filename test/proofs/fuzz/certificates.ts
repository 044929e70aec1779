/** Foreign certificates and keys: DER, PEM, the content of files, and chains. */
import { X509Certificate } from 'node:crypto';
import fc from 'fast-check';
import { der, readElement, readElements, TAG } from '../../../certs/der.ts';
import { readCertificate } from '../../../certs/facts/read-certificate.ts';
import {
  analyseChain,
  authorityKeyId,
  certificateFacts,
  chainLines,
  distinguishedName,
  issuerInWords,
  type MaterialReading,
  makeCertificate,
  privateKeyTexts,
  readAuthorities,
  readCertificates,
  readIdentity,
  readPrivateKey,
  sniff,
  subjectInWords,
} from '../../../certs/index.ts';
import { certificateBlocks, pemText } from '../../../certs/loader/pem.ts';
import { HookproofError } from '../../../contract/index.ts';
import { checkClientCertificate } from '../../../receiver/index.ts';
import { edited, type FuzzTarget, fuzzTarget, must, orRefused, printable } from './target.ts';

/** Matches characters that control a display or are invisible. */
const RAW = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

interface Material {
  readonly cert: string;
  readonly key: string;
  readonly der: Buffer;
  readonly keyDer: Buffer;
  readonly root: string;
}

let made: Promise<readonly Material[]> | undefined;

async function make(): Promise<readonly Material[]> {
  const root = await makeCertificate({ subject: 'CN=root, O=Fuzz', authority: true, pathLength: 1 });
  const hosts = ['partner.example', '127.0.0.1', '::1', '*.partner.example'];
  const all = await Promise.all(
    (['p256', 'ed25519', 'rsa2048'] as const).map((key) =>
      makeCertificate({
        subject: 'CN=partner.example, O=Größe, C=DE',
        issuer: root,
        key,
        hosts,
        usages: ['serverAuth', 'clientAuth'],
        issuerUrl: 'http://ca.example/root.der',
      }),
    ),
  );
  const fromPem = (pem: string) => Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  return [root, ...all].map(({ cert, key, der: bytes }) => {
    return { cert, key, der: Buffer.from(bytes), keyDer: fromPem(key), root: root.cert };
  });
}

function materials(): Promise<readonly Material[]> {
  made ??= make();
  return made;
}

/** The tags of certificates, and bytes that break DER readers: long lengths, indefinite lengths, long tags. */
const DER_WORDS = [
  ...Object.values(TAG).flatMap((tag) => [Buffer.of(tag), Buffer.of(tag, 0), Buffer.of(tag, 0x80), Buffer.of(tag, 1)]),
  Buffer.from('30840fffffff', 'hex'),
  Buffer.from('3085ffffffffff', 'hex'),
  Buffer.from('3f8101', 'hex'),
  Buffer.from('0603551d11', 'hex'),
  Buffer.from('0603551d13', 'hex'),
  Buffer.from('0600', 'hex'),
  Buffer.from('06028080', 'hex'),
  Buffer.from('0201ff', 'hex'),
  Buffer.from('0c02c328', 'hex'),
  Buffer.from('1e01ff', 'hex'),
  Buffer.from('170d3939313233313233353935395a', 'hex'),
  Buffer.from('180f39393939313233313233353935395a', 'hex'),
  Buffer.from('8700', 'hex'),
  Buffer.from('8204002e2e2e', 'hex'),
];

interface Tree {
  readonly tag: number;
  readonly content: Uint8Array | readonly Tree[];
}

/** Generates trees of the elements of certificates, in any order. */
const randomTree: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', maxDepth: 8 },
    fc.record({
      tag: fc.constantFrom(...Object.values(TAG), 0x82, 0x87, 0x86),
      content: fc.uint8Array({ maxLength: 20 }),
    }),
    fc.record({
      tag: fc.constantFrom(TAG.sequence, TAG.sequence, TAG.set, TAG.context0, TAG.context3, TAG.octetString),
      content: fc.array(tie('tree'), { maxLength: 6 }),
    }),
  ),
})).tree;

function encoded({ tag, content }: Tree): Uint8Array {
  return content instanceof Uint8Array ? der(tag, content) : der(tag, ...content.map(encoded));
}

/** Parses DER into a tree. An element whose content is not DER is a leaf. */
function treeOf(bytes: Uint8Array): Tree {
  const { tag, content } = readElement(bytes);
  if ((tag & 0x20) === 0) return { tag, content };
  return { tag, content: readElements(content).map(({ bytes: inner }) => treeOf(inner)) };
}

interface TreeEdit {
  readonly at: number;
  readonly how: 'replace' | 'remove' | 'double' | 'tag' | 'nest';
  readonly tree: Tree;
  readonly times: number;
}

const treeEdit: fc.Arbitrary<TreeEdit> = fc.record({
  at: fc.nat(0xffff),
  how: fc.constantFrom('replace', 'remove', 'double', 'tag', 'nest'),
  tree: randomTree,
  times: fc.constantFrom(1, 1, 1, 2, 20, 2000),
});

/** Changes an element and repairs the lengths around it, so that readers get beyond the first length. */
function editTree(tree: Tree, { at, how, tree: other, times }: TreeEdit): Tree {
  let left = at % countOf(tree);
  const visit = (one: Tree): Tree[] => {
    left -= 1;
    if (left === -1) {
      if (how === 'remove') return [];
      if (how === 'double') return Array.from<Tree>({ length: times + 1 }).fill(one);
      if (how === 'tag') return [{ ...one, tag: other.tag }];
      if (how === 'nest') return [nested(one, times)];
      return [other];
    }
    return [one.content instanceof Uint8Array ? one : { tag: one.tag, content: one.content.flatMap(visit) }];
  };
  return visit(tree)[0] ?? other;
}

/** Returns the element inside this many others. */
function nested(tree: Tree, times: number): Tree {
  let content = encoded(tree);
  for (let depth = 1; depth < times; depth += 1) content = der(TAG.sequence, content);
  return { tag: TAG.sequence, content };
}

function countOf({ content }: Tree): number {
  return content instanceof Uint8Array ? 1 : content.reduce((sum, inner) => sum + countOf(inner), 1);
}

function hostileDer(originals: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const trees = originals.map(treeOf);
  return fc.oneof(
    edited(fc.constantFrom(...originals), DER_WORDS),
    fc
      .tuple(fc.constantFrom(...trees), fc.array(treeEdit, { minLength: 1, maxLength: 4 }))
      .map(([tree, edits]) => printable(Buffer.from(encoded(edits.reduce(editTree, tree))))),
    randomTree.map((tree) => printable(Buffer.from(encoded(tree)))),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
  );
}

const isTypeError = (error: unknown) => error instanceof TypeError;
const isUnreadable = (error: unknown) => error instanceof HookproofError && error.code === 'CERTIFICATE_UNREADABLE';

function mustBePrintable(texts: readonly (string | null | undefined)[]): void {
  const raw = texts.find((text) => text !== null && text !== undefined && RAW.test(text));
  must(raw === undefined, `a text that is not safe to print: ${JSON.stringify(raw)}`);
}

const NOW = new Date();

const certificate = fuzzTarget(
  {
    name: 'certificate',
    shows: 'DER: facts that are safe to print or the declared error; a chain with the certificate is analysed',
    shortRuns: 80,
  },
  async () => {
    const all = await materials();
    const trusted = [new X509Certificate(all[0]?.root ?? '')];
    return {
      input: hostileDer(all.map(({ der: bytes }) => bytes)),
      check(bytes) {
        orRefused(() => readCertificate(bytes), isTypeError);
        const facts = orRefused(() => certificateFacts(bytes), isUnreadable);
        if (facts !== undefined) {
          const { subject, issuer, hosts, commonName, issuerUrl, signature, usages } = facts;
          mustBePrintable([subject, issuer, ...hosts, commonName, issuerUrl, signature, ...(usages ?? [])]);
        }
        mustBePrintable([distinguishedName(bytes)]);
        const leaf = all[1]?.der ?? Buffer.alloc(0);
        for (const sent of [[bytes], [leaf, bytes], [bytes, bytes, leaf]]) {
          const analysis = analyseChain({
            sent,
            exact: true,
            host: 'partner.example',
            trusted,
            now: NOW,
            oracle: undefined,
          });
          mustBePrintable(analysis.faults.map(({ text }) => text));
          chainLines(analysis);
        }
        const loaded = loadedByNode(bytes);
        if (loaded === null) return;
        mustBePrintable([subjectInWords(loaded), issuerInWords(loaded)]);
        authorityKeyId(loaded);
        checkNames(loaded);
      },
    };
  },
);

function loadedByNode(bytes: Uint8Array): X509Certificate | null {
  try {
    return new X509Certificate(bytes);
  } catch {
    return null;
  }
}

/** Checks the names in a client certificate as the receiver does. */
function checkNames(loaded: X509Certificate): void {
  const { subject, subjectaltname } = loaded.toLegacyObject() as { subject?: { CN?: string }; subjectaltname?: string };
  const certificate = { ...(subject && { subject }), ...(subjectaltname !== undefined && { subjectaltname }) };
  const connection = { encrypted: true, authorized: true, authorizationError: undefined, certificate };
  const { ok } = checkClientCertificate({ connection, allowed: ['never.example'] } as Parameters<
    typeof checkClientCertificate
  >[0]);
  must(!ok, 'a client with other names is accepted');
}

/** The label is a separate text, because secret scanners report the whole line as a leaked key. */
const PRIVATE = 'PRIVATE KEY';

const PEM_WORDS = [
  '\n',
  '\r\n',
  '\r',
  ' ',
  '\t',
  '\0',
  '\ufeff',
  '-----BEGIN CERTIFICATE-----\n',
  '-----END CERTIFICATE-----\n',
  `-----BEGIN ${PRIVATE}-----\n`,
  `-----END ${PRIVATE}-----\n`,
  `-----BEGIN ENCRYPTED ${PRIVATE}-----\n`,
  '-----BEGIN EC PARAMETERS-----\n',
  '-----BEGIN ',
  '-----END X-----',
  '-----',
  'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n',
  'AAAA',
  '=',
  '\\n',
  '{"kty":',
  '<html>',
  'ssh-rsa AAAA',
  'BEGIN ',
];

const source = { name: 'the file' } as const;

const file = fuzzTarget(
  {
    name: 'certificate-file',
    shows: 'PEM, DER and anything else in a file: certificates and keys, or what it is and how to fix it',
    shortRuns: 80,
  },
  async () => {
    const all = await materials();
    const [, material] = all;
    const cert = { bytes: Buffer.from(material?.cert ?? ''), source };
    const key = { bytes: Buffer.from(material?.key ?? ''), source };
    const texts = all.flatMap((one) => [one.cert, one.key, `${one.cert}${one.root}${one.key}`]);
    return {
      input: fc.oneof(
        edited(fc.constantFrom(...texts.map((text) => Buffer.from(text))), PEM_WORDS),
        hostileDer(all.flatMap((one) => [one.der, one.keyDer])),
        hostileDer(all.map((one) => one.der)).map((bytes) =>
          Buffer.from(`-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`),
        ),
      ),
      check(bytes) {
        sniff(bytes);
        pemText(bytes.toString('latin1'));
        certificateBlocks(bytes.toString('latin1'));
        privateKeyTexts(bytes);
        const readings: MaterialReading<unknown>[] = [
          readCertificates(bytes, source),
          readAuthorities(bytes, { source, now: NOW }),
          readPrivateKey(bytes, { source }),
          readPrivateKey(bytes, { source, passphrase: 'x' }),
          readIdentity({ cert: { bytes, source }, key, purpose: 'client', now: NOW }),
          readIdentity({ cert, key: { bytes, source }, purpose: 'server', now: NOW }),
        ];
        for (const { value, problems, advice } of readings) {
          must(value !== undefined || problems.length > 0, 'no value and no problem');
          mustBePrintable([...problems, ...advice].flatMap(({ what, hint }) => [what, hint]));
        }
      },
    };
  },
);

export const CERTIFICATE_TARGETS: readonly FuzzTarget[] = [certificate, file];
