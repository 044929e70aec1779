/** What is wrong with the list as such: its order, repetitions, and what does not belong there. RFC 5246, 7.4.2. */

import type { ReadCertificate } from '../facts/read-certificate.ts';
import type { ChainFault } from './chain-analysis.ts';
import type { Link, Links } from './link.ts';
import { nameOf, placeOf } from './wording.ts';

const ORDER = 'Put the certificate first and after it the one that issued it, and so on up, without the root.';
const LEAVE_OUT = 'Take it out of the file of the chain.';

/** `related` holds every link on any path from the leaf. */
export function orderFaults(
  read: readonly (ReadCertificate | undefined)[],
  links: Links,
  path: readonly Link[],
  related: ReadonlySet<Link>,
): ChainFault[] {
  const faults: ChainFault[] = [];
  const places = path.flatMap(({ at }) => (at === null ? [] : [at]));
  const wrong = places.findIndex((at, index) => at < (places[index - 1] ?? 0) || (index === 0 && at !== 0));
  const [late, early] = [places[wrong - 1] ?? places[0], places[wrong]];
  if (wrong >= 0 && late !== undefined && early !== undefined) {
    faults.push({ code: 'misordered', at: early, text: misorder(read, late, early), fix: ORDER });
  }
  read.forEach((certificate, at) => {
    if (certificate === undefined) return;
    const name = nameOf(certificate);
    const link = links.sent[at];
    if (link === undefined) {
      const first = links.repeats.get(at) ?? 0;
      const text = `${name} is sent twice, as the ${placeOf(first)} and the ${placeOf(at)} certificate.`;
      faults.push({ code: 'duplicate', at, text, fix: LEAVE_OUT });
    } else if (link !== path[0] && link.selfSigned && (link.trusted || (related.has(link) && isTopTrusted(path)))) {
      const text = `The root ${name} is sent: whoever trusts it has it, and it costs ${certificate.der.length} bytes in each handshake.`;
      faults.push({ code: 'root-sent', at, text, fix: LEAVE_OUT });
    } else if (!related.has(link)) {
      const text = `${name} is sent as the ${placeOf(at)} certificate and belongs to no link of the chain.`;
      faults.push({ code: 'unrelated', at, text, fix: LEAVE_OUT });
    }
  });
  return faults;
}

function isTopTrusted(path: readonly Link[]): boolean {
  return path.at(-1)?.trusted === true;
}

function misorder(read: readonly (ReadCertificate | undefined)[], late: number, early: number): string {
  const name = (at: number) => {
    const certificate = read[at];
    return certificate === undefined ? 'a certificate' : nameOf(certificate);
  };
  if (late === early)
    return `The leaf ${name(early)} is sent as the ${placeOf(early)} certificate, and it has to be the first.`;
  return `${name(early)} is sent as the ${placeOf(early)} certificate, before ${name(late)}, which it issued.`;
}
