/**
 * In what a delivery differs from the plain valid one, as it is sent: `signature: missing`, `Content-Type: text/plain`,
 * `body: characters outside ASCII`. They are read from the request itself, so that a check needs no labels of its own.
 * Pure.
 */
import {
  CONTENT_TYPE,
  DEFAULT_API_KEY_HEADER,
  DEFAULT_SIGNATURE_HEADER,
  type JsonObject,
  sameHeaderName,
} from '../../contract/index.ts';
import {
  type Change,
  type Expectation,
  findScenario,
  type Kit,
  type RequestHead,
  samples,
} from '../../scenarios/index.ts';
import type { Partner } from '../partner.ts';
import { address, serialise } from '../sender/index.ts';

/** A dimension and the value of the delivery in it. */
export type Trait = `${string}: ${string}`;

/** Bodies above this are not read any further: their size is what matters. */
const LARGE = 20_000;

/** A signature of the right form. It has every character that a change may need. */
const VALID = 'abcdefghijklmnopqrstuvwxyz+/ABCDEFGHIJKLMNO=';
const OF_ANOTHER_BODY = 'ONMLKJIHGFEDCBA/+zyxwvutsrqponmlkjihgfedcba=';
const KEY = 'the-key-of-the-partner';

/** A kit whose random values are all made of this byte. */
function kitOf(scenario: string, random: number): Kit & { body: Uint8Array } {
  let count = 0;
  const kit = {
    body: new Uint8Array(),
    scenario,
    newId: () => `test-${(count++).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`,
    nonce: (length = 12) => String.fromCharCode(random).repeat(length),
    integer: () => 0,
    bytes: (length: number) => Buffer.alloc(length, random),
    now: new Date(0),
    notification: (): JsonObject => samples.plainNotification(kit),
    secret: 'the-secret-of-the-partner',
    apiKey: KEY,
    signatureHeader: DEFAULT_SIGNATURE_HEADER,
    apiKeyHeader: DEFAULT_API_KEY_HEADER,
    clientCertificate: '',
    sign: (body: Uint8Array) => (Buffer.compare(body, kit.body) === 0 ? VALID : OF_ANOTHER_BODY),
    cookies: [],
    returned: [],
  };
  return kit;
}

const [FIRST, SECOND] = [107, 109];

/** A delivery of a check: what is expected, and in what it differs from the plain valid one. */
export interface Cell {
  readonly expect: Expectation;
  readonly traits: readonly Trait[];
}

/** The deliveries of a check by their labels; a single one has the label ''. Empty for what sends no delivery. */
export function cellsOf(id: string): ReadonlyMap<string, Cell> {
  const known = byId.get(id);
  if (known !== undefined) return known;
  const scenario = findScenario(id);
  const kit = kitOf(id, FIRST);
  const deliveries =
    scenario === undefined
      ? []
      : 'change' in scenario
        ? [{ label: '', change: scenario.change, expect: scenario.expect }]
        : 'flow' in scenario
          ? scenario.flow(kit).flat()
          : [];
  const found = new Map(
    deliveries.map(({ label, change, expect }): [string, Cell] => {
      let traits: readonly Trait[] | undefined;
      const cell = {
        expect,
        // A flow may have fifty deliveries, of which one decides.
        get traits() {
          traits ??= traitsOfChange(change, kit);
          return traits;
        },
      };
      return [label, cell];
    }),
  );
  byId.set(id, found);
  return found;
}

const byId = new Map<string, ReadonlyMap<string, Cell>>();

function traitsOfChange(change: Change, kit: ReturnType<typeof kitOf>): Trait[] {
  const value = change.compose === undefined ? kit.notification() : change.compose(kit);
  const body = change.serialise === undefined ? serialise(value) : change.serialise(value, kit);
  const head = headOf(change, body, kit);
  const again = () => headOf(change, body, kitOf(kit.scenario ?? '', SECOND));
  return [
    ...credential('signature', kit.signatureHeader, VALID, head, again, change.sign?.label),
    ...credential('API key', kit.apiKeyHeader, KEY, head, again, change.address?.label),
    ...trait('client certificate', change.connect?.clientCertificate ?? change.connect?.label),
    ...trait('method', head.method === 'POST' ? undefined : head.method),
    ...targetOf(head, change),
    ...headersOf(head),
    ...trait('framing', framingOf(change)),
    ...notificationOf(change, value, kit),
    ...bodyOf(change, body),
  ];
}

const PARTNER: Partner = { url: 'http://partner.example/hooks', apiKey: { value: KEY } };
const { target: TARGET, headers: HEADERS } = address({ partner: PARTNER, body: new Uint8Array(), signature: VALID });
const USUAL_HEADERS = HEADERS.map(([name]) => name.toLowerCase());

function targetOf({ target }: RequestHead, { address }: Change): Trait[] {
  const [path, ...query] = target.split('?');
  return [
    ...(path === TARGET ? [] : trait('URL', address?.label)),
    ...trait('query', query.length === 0 ? undefined : query.join('?').split('=')[0]),
  ];
}

function headOf(change: Change, body: Uint8Array, kit: ReturnType<typeof kitOf>): RequestHead {
  kit.body = body;
  const signature = change.sign === undefined ? VALID : change.sign.make(body, kit);
  const plain = address({ partner: PARTNER, body, signature });
  return change.address === undefined ? plain : change.address.make(plain, kit, body);
}

const trait = (dimension: string, value: string | undefined): Trait[] =>
  value === undefined ? [] : [`${dimension}: ${value}`];

/** A credential that is not the valid one, once: missing, empty, or what the change calls it. */
function credential(
  name: string,
  header: string,
  valid: string,
  head: RequestHead,
  again: () => RequestHead,
  label: string | undefined,
): Trait[] {
  const valuesIn = ({ headers }: RequestHead) =>
    headers.filter(([one]) => sameHeaderName(one, header)).map(([, value]) => value);
  const values = valuesIn(head);
  const [first] = values;
  if (first === undefined) return [`${name}: missing`];
  if (values.length > 1) return [`${name}: ${label ?? 'several'}`];
  if (first === valid) return [];
  if (first.trim() === '') return [`${name}: empty`];
  const isInvented = !first.includes(valid) && first !== valuesIn(again())[0];
  // What changes with the random values alone says the same, whatever it is called.
  return [`${name}: ${isInvented ? 'invented' : (label ?? 'another one')}`];
}

/** The media type, where it is another one, and the names of headers that the sender does not send. */
function headersOf({ headers }: RequestHead): Trait[] {
  const type = headers.find(([name]) => sameHeaderName(name, 'content-type'))?.[1];
  const others = headers.filter(([name]) => !USUAL_HEADERS.includes(name.toLowerCase())).map(([name]) => name);
  return [
    ...trait('Content-Type', type === CONTENT_TYPE ? undefined : (type?.split(';')[0] ?? 'none')),
    ...[...new Set(others)].map((name): Trait => `header: ${name}`),
  ];
}

function framingOf({ transmit }: Change): string | undefined {
  if (transmit === undefined) return undefined;
  return 'label' in transmit ? transmit.label : transmit.kind;
}

function notificationOf({ compose }: Change, value: unknown, kit: Kit): Trait[] {
  if (compose === undefined) return [];
  const kind = kindOf(value);
  const leaves = leavesOf(value);
  const plain = kit.notification();
  const status = statusOf(value);
  if (kind !== kindOf(plain)) return [`notification: ${kind}`, ...trait('status', status)];
  if (status !== statusOf(plain)) return trait('status', status);
  const usual = new Map(leavesOf(plain));
  const names = leaves
    .filter(([path, leaf]) => !VARYING.includes(nameOf(path)) && usual.get(path) !== leaf)
    .map(([path]) => nameOf(path));
  return [...new Set(names)].map((name): Trait => `field: ${name}`);
}

/** What every notification has of its own. */
const VARYING = ['id', 'at', 'transactionId', 'customerId'];
const LONG_TEXT = 255;

/** Notifications are less deep. Some checks send thousands of levels, which no recursion survives. */
const MAX_DEPTH = 16;

/** Every value other than objects, with its path. What is deeper is one value. */
function leavesOf(value: unknown, path = '', depth = 0): [path: string, leaf: unknown][] {
  if (value === null || typeof value !== 'object' || depth === MAX_DEPTH) return [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, `${path}.${key}`, depth + 1));
}

const nameOf = (path: string) => path.slice(path.lastIndexOf('.') + 1);

/** The type, and the type in `data`; how the value differs from a notification. */
function kindOf(value: unknown): string {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return 'no object';
  const { type, data } = value as { readonly type?: unknown; readonly data?: unknown };
  if (data === null || typeof data !== 'object') return `${type} without data`;
  const { type: inner } = data as { readonly type?: unknown };
  return [type, inner].filter((part) => typeof part === 'string').join(' ');
}

/** The status, whatever the field is called. */
function statusOf(value: unknown): string | undefined {
  const [, status] = leavesOf(value).find(([path, leaf]) => /status$/i.test(path) && typeof leaf === 'string') ?? [];
  return status === undefined ? undefined : `${status}`;
}

/** What the bytes of the body have that those of the sender's usual JSON have not. */
function bodyOf({ serialise, compose }: Change, body: Uint8Array): Trait[] {
  if (serialise === undefined && compose === undefined) return [];
  if (body.length === 0) return ['body: no bytes'];
  if (body.length > LARGE) return [`body: more than ${LARGE / 1000} kB`];
  const text = Buffer.from(body).toString();
  const found = FEATURES.filter(([pattern]) => pattern.test(text)).map(([, name]): Trait => `body: ${name}`);
  const parsed = unlessThrown((): unknown => JSON.parse(text));
  const isLong = leavesOf(parsed).some(([, leaf]) => typeof leaf === 'string' && leaf.length > LONG_TEXT);
  if (isLong) found.push(`text: longer than ${LONG_TEXT} characters`);
  if (serialise === undefined) return found;
  if (parsed === undefined) return [...found, 'body: no JSON'];
  // Thousands of levels can be read and not be written.
  return unlessThrown(() => JSON.stringify(parsed)) === text
    ? found
    : [...found, 'body: another spelling than JSON.stringify writes'];
}

const FEATURES: readonly (readonly [RegExp, string])[] = [
  [/\ufffd/, 'bytes that are not UTF-8'],
  [/^\ufeff/, 'a byte order mark'],
  [/^\s|\s$/, 'white space at an end'],
  [/[\u0080-\ufffc]/, 'characters outside ASCII'],
  [/\\u/, 'escapes'],
];

function unlessThrown<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
