/** What no single mutant shows: an endpoint that dies, checks nothing at all, or refuses with another status throughout. Pure. */
import type { RunObservations } from '../../scenarios/index.ts';
import type { Diagnosis, ScenarioResult } from '../report/result-document.ts';
import type { Finding } from './preflight-findings.ts';

type Results = readonly ScenarioResult[];

const wasJudged = ({ verdict }: ScenarioResult) => verdict === 'pass' || verdict === 'fail' || verdict === 'warn';
const wasAccepted = (result: ScenarioResult) => result.verdict !== 'inconclusive' && /^2\d\d/.test(result.observed);
const idsOf = (results: Results) => results.map(({ id }) => id);

/** A finding with the results that show it, of those that could. */
function counted(finding: Finding, agreeing: Results, telling: number): Diagnosis {
  const { fault, title, why, fix } = finding;
  const evidence = idsOf(agreeing);
  const told = { evidence, alike: [], seen: '', stack: null };
  return { relation: 'main', fault, title, agreement: agreeing.length, outcomes: telling, why, fix, ...told };
}

/** Deliveries whose credentials are wrong. */
function forged(results: Results): Results {
  const suites = ['signature', 'api-key', 'combination'];
  return results.filter(
    (result) => suites.includes(result.suite) && result.expected.startsWith('401') && wasJudged(result),
  );
}

const NOTHING_CHECKED: Finding = {
  fault: 'accepts-everything',
  title: 'The endpoint accepts everything: nothing is checked',
  why: 'Forged, tampered and unsigned deliveries get the same 200 as right ones. Whoever knows the URL can make you believe that money arrived. Usual causes: a placeholder handler, a check that is never awaited, or an answer sent before the check.',
  fix: 'Verify signature and key first, and answer 401 at once when either is wrong or missing. The reference receiver shows the order of the steps.',
};

/** So many forged deliveries have to be accepted before anybody says that nothing is checked, and nearly all of them. */
const ENOUGH = 10;
const NEARLY_ALL = 0.98;
const MOSTLY = 0.8;

/** Whether the payload is not looked at either: what is malformed is accepted like everything else. */
function takesMalformed(results: Results): boolean {
  const malformed = results.filter((result) => result.suite === 'malformed' && wasJudged(result));
  return malformed.length >= ENOUGH && malformed.filter(wasAccepted).length / malformed.length >= MOSTLY;
}

/** Every forged delivery is accepted, whatever is wrong with it, and so is every payload: all checks are missing, not one. */
export function ofNothingChecked(results: Results): Diagnosis | null {
  const telling = forged(results);
  const accepted = telling.filter(wasAccepted);
  if (telling.length < ENOUGH || accepted.length / telling.length < NEARLY_ALL) return null;
  if (!takesMalformed(results)) return null;
  return counted(NOTHING_CHECKED, accepted, telling.length);
}

export function ofOutages(outages: RunObservations['outages'], results: Results): Diagnosis | null {
  const [first] = outages;
  if (first === undefined) return null;
  const culprits = [...new Set(outages.flatMap(({ culprit }) => (culprit === null ? [] : [culprit])))];
  const stayedDown = outages.some(({ recovered }) => !recovered);
  const named = culprits.length > 0 ? culprits.slice(0, 5).join(', ') : `one of ${first.inFlight.join(', ')}`;
  const more = culprits.length > 5 ? ` and ${culprits.length - 5} more` : '';
  const finding = {
    fault: stayedDown ? 'dies-and-stays-down' : 'dies-and-is-restarted',
    title: stayedDown
      ? 'A single delivery stops the receiver, and it does not come back'
      : 'Single deliveries stop the receiver until it is restarted',
    why: `The receiver stopped answering after: ${named}${more}. An exception that nobody catches ends the process, so anybody can switch the receiver off.`,
    fix: `Catch errors around parsing and around every asynchronous step, and answer 400. In Express 4 an async handler needs its own try/catch; Express 5 does it for you.${culprits.length > 0 ? '' : ' To find the delivery that does it, run again with `--concurrency 1`, or let a supervisor restart the receiver.'}`,
  };
  const guilty = results.filter(({ id, verdict }) => culprits.includes(id) && verdict !== 'pass');
  return { ...counted(finding, guilty, outages.length), agreement: outages.length };
}

/** Forged deliveries that were accepted, by an endpoint that refuses others: the most dangerous thing there is to say. */
export function ofAcceptances(results: Results): Diagnosis | null {
  const telling = forged(results).filter(({ level }) => level === 'must');
  const accepted = telling.filter(wasAccepted);
  if (accepted.length === 0) return null;
  const named = accepted.slice(0, 3).map(({ id }) => id);
  const missing = accepted.some(({ id }) => id === 'signature/missing' || id === 'api-key/missing');
  const finding = {
    fault: missing ? 'missing-credential-let-through' : 'forged-deliveries-accepted',
    title: `${accepted.length === 1 ? 'A forged delivery was' : `${accepted.length} forged deliveries were`} accepted: ${named.join(', ')}${accepted.length > 3 ? ', ...' : ''}`,
    why: missing
      ? 'A check such as `if (header && !valid)` lets everybody in who leaves the header out. Whoever knows the URL can make you believe that money arrived.'
      : 'Whoever finds this out can make you believe that money arrived. Mend it before anything else.',
    fix: missing
      ? 'Treat a missing header like a wrong one: `if (!header || !valid)` answers 401.'
      : 'See the failures whose reason begins with "accepted": each names the one thing that was wrong with the delivery.',
  };
  return counted(finding, accepted, telling.length);
}

/** Refusals that are right but for their status: one cause behind many failures. */
export function ofRefusalStatus(results: Results): Diagnosis | null {
  const refusals = forged(results);
  for (const status of ['403', '400', '404', '422', '500']) {
    const same = refusals.filter(({ observed }) => observed === status);
    if (same.length < 10 || same.length < refusals.length / 2) continue;
    const finding = {
      fault: `refuses-with-${status}`,
      title: `Wrong credentials are refused with ${status}; 401 is agreed`,
      why: 'The refusals themselves are right: only the status is not. A sender tells "wrong credentials" from other troubles by it.',
      fix:
        status === '500'
          ? 'Catch what the check throws, and answer 401.'
          : `Answer 401 in place of ${status}, in the one place where credentials are refused.`,
    };
    return counted(finding, same, refusals.length);
  }
  return null;
}

/** Malformed payloads that end in a 5xx: one missing guard behind many failures. */
export function ofCrashes(results: Results): Diagnosis | null {
  const payloads = results.filter(
    (result) => result.suite === 'malformed' && result.expected.includes('4xx') && wasJudged(result),
  );
  const crashes = payloads.filter(({ observed }) => /^5\d\d/.test(observed));
  if (crashes.length < 5) return null;
  const finding = {
    fault: 'malformed-ends-in-5xx',
    title: 'Malformed payloads end in a 5xx: the handler throws',
    why: 'The payload is parsed or read without a guard, and the framework answers for the exception. The sender takes a 5xx for trouble that passes, and may send the same again and again.',
    fix: 'Put parsing and validation inside a guard that answers 400, and check types before fields are read.',
  };
  return counted(finding, crashes, payloads.length);
}

/** Explains how an endpoint treats client certificates, from the results of a run. Pure. */

const NOT_ASKED: Finding = {
  fault: 'client-certificate-not-required',
  title: 'Deliveries are accepted without a client certificate',
  why: 'Mutual TLS is agreed, and the endpoint asks for a certificate without insisting on one, or never asks. Usual causes: `rejectUnauthorized: false` without a look at `socket.authorized`, nginx `ssl_verify_client optional` without a check of `$ssl_client_verify`, or a load balancer that ends TLS in front and does not verify.',
  fix: 'Require and verify the certificate where TLS ends: Node `requestCert: true, rejectUnauthorized: true, ca`; nginx `ssl_verify_client on` with `ssl_client_certificate`.',
};

const ANY_TAKEN: Finding = {
  fault: 'any-client-certificate-accepted',
  title: 'Any client certificate is accepted, whoever issued it',
  why: 'A certificate is asked for and not verified, so anybody can make one that works. Usual causes: nginx `optional_no_ca`, a verify callback that returns true, or a trust list with more authorities than the agreed one.',
  fix: 'Verify against the one authority that issues the client certificate: nginx `ssl_verify_client on` with `ssl_client_certificate`; Node `rejectUnauthorized: true` with `ca`.',
};

const HEADERS_BELIEVED: Finding = {
  fault: 'forged-certificate-header-believed',
  title: 'A header that claims a client certificate is believed from anybody',
  why: 'The application trusts what a proxy should have verified, and does not make sure that the proxy said it.',
  fix: 'Have the proxy overwrite these headers on every request, let nobody reach the application past it, and ignore them everywhere else.',
};

const wasWronglyAccepted = ({ verdict, observed }: ScenarioResult) => verdict === 'fail' && /^2\d\d/.test(observed);
const wasTried = ({ verdict }: ScenarioResult) => verdict !== 'not-applicable' && verdict !== 'inconclusive';

function found(finding: Finding, telling: readonly ScenarioResult[]): Diagnosis | null {
  const accepted = telling.filter(wasWronglyAccepted);
  return accepted.length === 0 ? null : counted(finding, accepted, telling.length);
}

/** What is wrong with mutual TLS. One cause at most: without a certificate nothing else can be told apart. */
export function explainClientCertificates(results: readonly ScenarioResult[]): Diagnosis | null {
  const tried = results.filter((result) => result.suite === 'mtls' && wasTried(result));
  const ending = (...ends: string[]) => tried.filter(({ id }) => ends.some((end) => id.endsWith(end)));
  return (
    found(NOT_ASKED, ending('-no-certificate')) ??
    found(ANY_TAKEN, ending('-self-signed', '-unknown-authority', '-same-names')) ??
    found(
      HEADERS_BELIEVED,
      tried.filter(({ id }) => id.startsWith('mtls/forged-')),
    )
  );
}
