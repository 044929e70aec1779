/**
 * The reference receiver, served by itself or, where it has no switch for what is asked, in an https server of its
 * user's own.
 */
import https, { type ServerOptions } from 'node:https';
import { createReceiver, type ReceiverOptions, type ServerTls, startReceiver } from '../../../../receiver/index.ts';
import type { Open } from '../cell.ts';
import { API_KEY, protocolsOf, SECRET, type Spoken } from '../material.ts';
import { openServer, type Reached } from './node-server.ts';

const PROTECTED = { signing: { secrets: [SECRET] }, apiKey: { keys: [API_KEY] } } as const;

/**
 * It has no option for the versions of TLS: whoever wants but one of them puts the receiver into a server of their own.
 * So both ways of using it are here.
 */
export async function openReceiver(
  spoken: Spoken,
  tls: ServerTls,
  { host = 'localhost', tls: trust }: Reached,
  more: Partial<ReceiverOptions> = {},
): Promise<Open> {
  if (spoken === 'both') {
    const { port, close } = await startReceiver({ ...PROTECTED, ...more, tls });
    return { url: `https://${host}:${port}/hooks`, tls: trust, close };
  }
  const { clientCertificate, ...material } = tls;
  const check = clientCertificate === undefined ? {} : { clientCertificate: { from: 'connection' } as const };
  const receiver = createReceiver({ ...PROTECTED, ...check, ...more });
  const options: ServerOptions = {
    ...material,
    ...protocolsOf(spoken),
    requestCert: clientCertificate !== undefined,
    rejectUnauthorized: clientCertificate === 'required',
  };
  return openServer(https.createServer(options, receiver.app), { host, tls: trust });
}

/** The receiver over plain HTTP, for a proxy on this machine. */
export function openUpstream(more: Partial<ReceiverOptions> = {}) {
  return startReceiver({ ...PROTECTED, ...more });
}
