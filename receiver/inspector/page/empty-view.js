// What to do when nothing has come yet.
import { commandLine, element } from './dom.js';

export function emptyView({ receiver, signature, apiKey }) {
  const url = receiver ?? 'URL';
  const ca = url.startsWith('https:') ? ' --ca ca.pem' : '';
  const needs = [
    signature === undefined ? undefined : 'HOOKPROOF_SECRET (or --secret-file)',
    apiKey === undefined ? undefined : 'HOOKPROOF_API_KEY (or --api-key-file)',
  ].filter(Boolean);
  return [
    element('h2', {}, 'No deliveries yet'),
    element('p', {}, 'Each delivery to the receiver appears here as it comes. Send a first one from another terminal:'),
    commandLine(`hookproof trigger buy ${url}${ca}`),
    needs.length === 0
      ? undefined
      : element('p', {}, `There it needs ${needs.join(' and ')}, with the same values as the receiver.`),
    element('p', {}, 'All samples and flows:'),
    commandLine('hookproof trigger list'),
    receiver === undefined
      ? undefined
      : element('p', {}, 'Or point your own sender to ', element('span', { class: 'mono' }, receiver), '.'),
  ].filter((part) => part !== undefined);
}
