/**
 * Our sender core as it is used: each delivery has an id of its own, is serialised, signed, sent, and comes back as an
 * attempt.
 */
import { createSender, prepare } from '../../../../harness/sender/index.ts';
import { buyNotification, idOf } from '../notification.ts';
import { API_KEY, runClient, SECRET, URL_TO } from './run-client.ts';

const sender = createSender();
const partner = { url: URL_TO, signing: { secret: SECRET }, apiKey: { value: API_KEY } };

runClient((number, done) => {
  void sender.deliver(prepare(buyNotification(idOf(number)), partner)).then(({ answer }) => done(answer?.status ?? 0));
});
