/** The authorities that Node trusts when it is given none. */
import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';
import { certificatesPem, readCertificates } from '../../certs/index.ts';

let remembered: readonly string[] | undefined;

/**
 * The authorities that are trusted without `ca`, as PEM: those of Node or of the system, whichever Node is set to, and those of the
 * file that NODE_EXTRA_CA_CERTS names. A list of authorities that is given to Node replaces all of these, so whoever adds one has to
 * give them too. Found once, as Node does.
 */
export function trustedRoots(): readonly string[] {
  remembered ??= defaultRoots();
  return remembered;
}

function defaultRoots(): readonly string[] {
  // Node has it from 22.15 on, and then it is exactly what Node uses.
  const listed: unknown = Reflect.get(tls, 'getCACertificates');
  if (typeof listed === 'function') return listed('default') as string[];
  const all = [...tls.rootCertificates, ...extraRoots(process.env.NODE_EXTRA_CA_CERTS)];
  // The extra file is often the whole store of the system, and each authority costs time in every context. Lines differ in length.
  return [...new Map(all.map((pem) => [pem.replace(/\s/g, ''), pem])).values()];
}

/** Node warns at its start about a file that it cannot read, and goes on without. */
function extraRoots(path: string | undefined): string[] {
  if (path === undefined) return [];
  try {
    const { value } = readCertificates(readFileSync(path), { file: path });
    return (value ?? []).map((certificate) => certificatesPem([certificate]));
  } catch {
    return [];
  }
}
