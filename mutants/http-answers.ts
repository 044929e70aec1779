/** Mutants that answer with the wrong status or handle connections incorrectly. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { answer, refuse, requestHeader, required } from '../receiver/stages/stage.ts';
import { family } from './family.ts';
import type { StageFault } from './fault.ts';
import { rewriteBody } from './raw-body-replacements.ts';
import { answerInvalidSignature, exceptFor, withAnswer, withReset } from './stage-changes.ts';

/**
 * Returns true for a body larger than the buffers of the connection. It is still in transit when an early answer is
 * sent.
 */
const isLarge = (req: IncomingMessage) => Number(req.headers['content-length']) > 256 * 1024;

/** Mutants that answer with an incorrect status, whatever the result of the checks. */
const statuses = family<StageFault>(
  { area: 'http', stage: 'accept', mistake: 'same-answer-to-all' },
  {
    'accepts-with-another-2xx': [
      'Answers 204 instead of 200 to an accepted notification',
      () => (_req, res) => void res.writeHead(204).end(),
      'wrong-success-status',
      { stage: 'reply' },
    ],
    'accepts-unhandled-kinds-with-202': [
      'Answers 202 instead of 200 to a kind of notification without its own handler',
      ({ correct }) =>
        (req, res, next) => {
          const { kind } = required(res, 'notification');
          if (kind === 'CAAS_BUY' || kind === 'CAAS_SELL') return correct.reply(req, res, next);
          answer(res, 202, { status: 'ignored' });
        },
      'wrong-success-status',
      { stage: 'reply' },
    ],
    'answers-200-to-everything': [
      'Answers 200 to every request',
      () => (_req, res) => answer(res, 200, {}),
      { note: 'Forged deliveries look accepted, and so do valid ones that were never processed.' },
    ],
    'answers-401-to-everything': [
      'Answers 401 to every delivery, even a valid one',
      () => (_req, res) => answer(res, 401, { error: 'unauthorized' }),
      { stage: 'requireSignature' },
    ],
    'redirects-every-delivery': [
      'Redirects every delivery, for example to a login page or to the URL with a trailing slash',
      () => (_req, res) => answer(res, 302, {}, { Location: '/login' }),
      { note: 'A client that follows may turn the POST into a GET and take the 200 of the page for acceptance.' },
    ],
    'answers-403-to-everything': [
      'Answers 403 to every delivery, even a valid one',
      () => (_req, res) => answer(res, 403, { error: 'forbidden' }),
    ],
    'answers-404-to-everything': [
      'Answers 404 to every delivery at the registered URL',
      () => (_req, res) => answer(res, 404, { error: 'not-found' }),
    ],
    'accepted-never-answered': [
      'Never answers an accepted notification',
      () => () => {},
      'never-ends-answer',
      { stage: 'reply' },
    ],
    'acknowledges-before-checking': [
      'Answers 200 to every POST, whatever its credentials, and checks it afterwards if at all',
      exceptFor('accept', (req) => req.method === 'POST', withAnswer(200, {})),
      'acknowledged-before-checks',
    ],
  },
);

/** Mutants that answer an invalid signature incorrectly. */
const refusals = family<StageFault>(
  { area: 'http', needs: ['hmac'], stage: 'requireSignature', mistake: 'wrong-refusal-status' },
  {
    'refuses-with-400': [
      'Answers 400 to an invalid or missing signature',
      answerInvalidSignature((res) => answer(res, 400, { error: 'bad-request' })),
      { note: 'Most tutorials answer 400; the sender then considers its own payload malformed.' },
    ],
    'refuses-with-403': [
      'Answers 403 to an invalid or missing signature',
      answerInvalidSignature((res) => answer(res, 403, { error: 'forbidden' })),
    ],
    'refuses-with-404': [
      'Answers 404 to an invalid or missing signature',
      answerInvalidSignature((res) => answer(res, 404, { error: 'not-found' })),
    ],
    'refuses-with-500': [
      'Answers 500 to an invalid or missing signature',
      answerInvalidSignature((res) => answer(res, 500, { error: 'internal' })),
      { note: 'The sender takes 500 for an outage and retries for hours.' },
    ],
    'refuses-with-200': [
      'Answers 200 to an invalid or missing signature, with an error in the body',
      answerInvalidSignature((res) => answer(res, 200, { error: 'unauthorized' })),
      'refused-with-success',
      { note: 'It looks like acceptance: with an incorrect secret, every delivery is lost.' },
    ],
    'refuses-by-redirect': [
      'Redirects to a login page on an invalid or missing signature',
      answerInvalidSignature((res) => answer(res, 302, {}, { Location: '/login' })),
      { note: 'A client that follows the redirect gets a page with 200.' },
    ],
    'refuses-by-hanging-up': [
      'Closes the connection without an answer on an invalid or missing signature',
      answerInvalidSignature((res) => void res.socket?.destroy()),
      'never-ends-answer',
    ],
  },
);

/** Mutants in which one request affects another, on the same connection or at the same time. */
const connections = family<StageFault>(
  { area: 'http', stage: 'accept', mistake: 'body-left-unread' },
  {
    'early-refusal-lost-in-reset': [
      'Rejects an invalid API key before reading the body and closes the connection at once, so a large body leads ' +
        'to ' +
        'a reset',
      exceptFor(
        'accept',
        (req, { apiKey }) => {
          const keys: readonly unknown[] = apiKey?.keys ?? [];
          return apiKey !== undefined && isLarge(req) && !keys.includes(requestHeader(req, apiKey.header));
        },
        // Closing a socket with unread bytes resets it, and the reset overtakes the answer.
        withReset,
      ),
      { forbidden: false, needs: ['api-key'] },
    ],
    'refused-body-left-on-connection': [
      'Leaves the large body of a rejected delivery unread and answers 400 to the next request on the connection',
      ({ correct }) => {
        const spoilt = new WeakSet<Socket>();
        return (req, res, next) => {
          if (spoilt.has(req.socket)) return refuse(res, 400, 'bad-request', { headers: { Connection: 'close' } });
          res.once('finish', () => {
            if (res.statusCode === 401 && isLarge(req)) spoilt.add(req.socket);
          });
          return correct.accept(req, res, next);
        };
      },
    ],
    'body-joined-to-previous': [
      'Appends a body to the previous one on the same connection, so a valid signature gets 401',
      (parts) => {
        const buffers = new WeakMap<Socket, Buffer>();
        return rewriteBody((body, { socket }) => {
          // A megabyte is enough to show this fault.
          const before = buffers.get(socket)?.subarray(0, 1024 * 1024) ?? Buffer.alloc(0);
          const joined = Buffer.concat([before, body]);
          buffers.set(socket, joined);
          return joined;
        }).replace(parts);
      },
      'state-shared-by-requests',
      { stage: 'readBody', note: 'Only the first delivery on a connection is accepted, so a test with curl passes.' },
    ],
  },
);

export const httpAnswersFaults: readonly StageFault[] = [...statuses, ...refusals, ...connections];
