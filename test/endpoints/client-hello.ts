/**
 * Reads a ClientHello like a server, independently of the code in the harness that writes it, so that each tests the
 * other.
 */
export interface ParsedHello {
  readonly recordVersion: number;
  /** The version field, which is 0x0303 for a TLS 1.3 client. */
  readonly version: number;
  /** The versions in the supported_versions extension. Empty without this extension. */
  readonly versions: readonly number[];
  readonly suites: readonly number[];
  readonly compressions: readonly number[];
  readonly serverName: string | null;
  readonly alpn: readonly string[];
  readonly sessionId: Buffer;
  /** The types of the extensions, in order. Null without extensions. */
  readonly extensions: readonly number[] | null;
  /** The record and everything that arrived with it. */
  readonly bytes: Buffer;
}

/**
 * Parses the hello at the beginning of these bytes. Returns null if it is incomplete, and 'no-hello' if it is not a
 * ClientHello.
 */
export function parseClientHello(bytes: Buffer): ParsedHello | null | 'no-hello' {
  if (bytes.length > 0 && bytes[0] !== 22) return 'no-hello';
  if (bytes.length < 5 || bytes.length < 5 + bytes.readUInt16BE(3)) return null;
  if (bytes[5] !== 1) return 'no-hello';
  try {
    return parse(bytes);
  } catch {
    return 'no-hello';
  }
}

function parse(bytes: Buffer): ParsedHello {
  const body = bytes.subarray(9, 9 + bytes.readUIntBE(6, 3));
  let place = 34;
  const vector = (size: 1 | 2) => {
    const length = body.readUIntBE(place, size);
    place += size + length;
    if (place > body.length) throw new RangeError('truncated');
    return body.subarray(place - length, place);
  };
  const sessionId = vector(1);
  const suites = numbers(vector(2));
  const compressions = [...vector(1)];
  const extensions = place < body.length ? extensionsIn(vector(2)) : null;
  if (place !== body.length) throw new RangeError('trailing bytes');
  const name = extensions?.get(0);
  const alpn = extensions?.get(16);
  const versions = extensions?.get(43);
  return {
    recordVersion: bytes.readUInt16BE(1),
    version: body.readUInt16BE(0),
    versions: versions === undefined ? [] : numbers(versions.subarray(1)),
    suites,
    compressions,
    serverName: name === undefined ? null : name.subarray(5).toString(),
    alpn: alpn === undefined ? [] : namesIn(alpn.subarray(2)),
    sessionId,
    extensions: extensions === null ? null : [...extensions.keys()],
    bytes,
  };
}

function numbers(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 2 }, (_, index) => bytes.readUInt16BE(index * 2));
}

function extensionsIn(bytes: Buffer): Map<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (let place = 0; place < bytes.length; ) {
    const length = bytes.readUInt16BE(place + 2);
    found.set(bytes.readUInt16BE(place), bytes.subarray(place + 4, place + 4 + length));
    place += 4 + length;
  }
  return found;
}

function namesIn(bytes: Buffer): string[] {
  const found: string[] = [];
  for (let place = 0; place < bytes.length; ) {
    const length = bytes[place] ?? 0;
    found.push(bytes.subarray(place + 1, place + 1 + length).toString());
    place += 1 + length;
  }
  return found;
}
