/** Turns texts about the scheme of the specification into texts about another one. */
import { DEFAULT_SIGNATURE_HEADER } from '../../contract/index.ts';
import { describeScheme, type Scheme, signatureHeaderOf } from '../../contract/signing/index.ts';
import type { Diagnosis, ScenarioResult } from '../report/result-document.ts';

/** The suites whose causes are mistakes in verification. */
const ABOUT_SIGNATURES = /^(?:signature|raw-body|scheme)\//;
const CGI_NAME = cgiName(DEFAULT_SIGNATURE_HEADER);

/** Returns the name of a header in CGI, WSGI and PHP. */
function cgiName(header: string): string {
  return `HTTP_${header.toUpperCase().replaceAll('-', '_')}`;
}

export interface SchemeWords {
  readonly results: <Result extends ScenarioResult>(results: readonly Result[]) => Result[];
  readonly diagnosis: (diagnosis: readonly Diagnosis[]) => Diagnosis[];
}

/** Returns functions that replace the name of the signature header in texts, and add to fixes what the scheme signs. */
export function wordsOfScheme(scheme: Scheme): SchemeWords {
  const header = signatureHeaderOf(scheme);
  const { documentation = '', title } = scheme;
  const correct = ` ${title} sends the ${describeScheme(scheme)}${documentation === '' ? '' : `: ${documentation}`}`;
  const named = (text: string) =>
    text.replaceAll(DEFAULT_SIGNATURE_HEADER, header).replaceAll(CGI_NAME, cgiName(header)).replace(RECIPE, '');
  return {
    results: (results) => results.map((one) => ({ ...one, why: named(one.why), fix: named(one.fix) })),
    diagnosis: (diagnosis) =>
      diagnosis.map((one) => {
        const isSigned = one.evidence.some((id) => ABOUT_SIGNATURES.test(id));
        return { ...one, seen: named(one.seen), why: named(one.why), fix: named(one.fix) + (isSigned ? correct : '') };
      }),
  };
}

/** The sentence about a complete receiver, which exists only for the service's own scheme. */
const RECIPE = / A complete receiver: `hookproof init[^`]*`\./;
