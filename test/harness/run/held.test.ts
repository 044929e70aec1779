/** Deliveries whose bodies arrive slowly, and forgeries next to them. */
import { expect, it, onTestFinished } from 'vitest';
import { run } from '../../../harness/run/index.ts';
import { serve } from '../../endpoints/listen.ts';
import { bodyOf, hmacOf } from '../../endpoints/verifying.ts';

const SECRET = 'a secret of the tests, which is long enough';
const ID = 'http/forged-while-others-arrive';
const UNFINISHED = 'http/while-a-body-is-unfinished';

/** Runs a check against a receiver that verifies unless `isSkipped` returns true. */
async function played(isSkipped: (arriving: number) => boolean, oneAtATime = false, id = ID, timeoutMs = 8000) {
  let arriving = 0;
  let previous: Promise<unknown> = Promise.resolve();
  const { url, close } = await serve((request, response) => {
    arriving += 1;
    const handle = async () => {
      const isOpen = isSkipped(arriving - 1);
      const body = await bodyOf(request);
      arriving -= 1;
      const isValid = isOpen || request.headers['x-service-signature'] === hmacOf(SECRET, body).toString('base64');
      response.writeHead(isValid ? 200 : 401).end();
    };
    previous = oneAtATime ? previous.then(handle) : handle();
    previous.catch(() => request.destroy());
  });
  onTestFinished(close);
  const document = await run({
    partner: { url, signing: { secret: SECRET } },
    selection: { scenarios: [id] },
    limits: { timeoutMs, recoveryMs: 200 },
  });
  return document.results.find((result) => result.id === id);
}

it('fail a receiver that does not verify while twelve bodies are arriving', async () => {
  expect(await played((arriving) => arriving >= 12)).toMatchObject({ verdict: 'fail', decidedBy: 'forgery-accepted' });
});

it('pass a receiver that verifies', async () => {
  expect(await played(() => false)).toMatchObject({ verdict: 'pass' });
});

it('pass a receiver that reads one request at a time', async () => {
  expect(await played(() => false, true)).toMatchObject({ verdict: 'pass' });
});

it('warn about a receiver that answers no delivery before an unfinished request is complete', async () => {
  expect(await played(() => false, true, UNFINISHED, 1500)).toMatchObject({ verdict: 'warn', decidedBy: 'no-answer' });
});

it('pass a receiver that answers others while a request is unfinished', async () => {
  expect(await played(() => false, false, UNFINISHED)).toMatchObject({ verdict: 'pass' });
});
