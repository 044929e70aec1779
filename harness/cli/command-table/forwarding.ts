/** The commands in front of the partner's own receiver: the proxy, and the replay of the deliveries that it kept. */
import type { Command } from 'commander';
import { type ActionMaker, collect, SET_HELP, withEndpoint, withSettings, withYes } from './shared-options.ts';

const PUBLIC_URL = 'the URL as it is registered with the sender, for a scheme that signs it';

const PROXY_HELP = `
Requests and answers are forwarded byte for byte, including the Host header and malformed requests: one connection to
the receiver for each connection of a sender, plain HTTP only. The path is not rewritten: senders use the path of the
receiver, and that of --to is only printed.

Each delivery is a line on standard error: time, id, kind, the status that the receiver answered, and whether that is
correct: 200 for a valid delivery, 4xx for one whose signature or key is not valid. ALARM: accepted although invalid,
refused although valid, or no answer. The page of the inspector counts the alarms above its list, and filters by them.

With --scheme, deliveries are verified, explained and signed in the scheme of another service; an accepted time outside
its tolerance is an alarm, too.

Without a secret or an API key (the same settings as for run), the page cannot say why a signature does not match.

Deliveries are kept as files ID.request with exactly the bytes of the request, in \${XDG_STATE_HOME:-~/.local/state}/
hookproof/deliveries (macOS: ~/Library/Application Support, Windows: %LOCALAPPDATA%). Only this user can read them
(mode 0600 in a folder with 0700). They hold the signature and the API key that a request carried, and no other
credential. The oldest are removed first; the others are kept when the proxy ends.

Examples:
  hookproof proxy --to http://127.0.0.1:3000/hooks
  HOOKPROOF_SECRET=... hookproof proxy --to http://127.0.0.1:3000/hooks --port 4000 --keep 100
  HOOKPROOF_SECRET=... hookproof proxy --to http://127.0.0.1:3000/stripe --scheme stripe
  hookproof run http://127.0.0.1:4000/hooks      (in another terminal)`;

const REPLAY_HELP = `
Each request is sent with its original bytes, on a new connection to the host and port of --to; path, query and Host are
those of the request. --sign replaces only the value of the signature header, and in a scheme also those of the id and
the time, which are new. Only --set and --body change the body, whose SHA-256 is printed. --curl prints a script for a
POSIX shell; credentials in it are variables.

Examples:
  hookproof replay --list
  hookproof replay 7e57ca-12 --to http://127.0.0.1:3000
  hookproof replay --last 10 --to http://127.0.0.1:3000 --sign
  hookproof replay 7e57ca-12 --to http://127.0.0.1:3000 --set data.metadata.orderStatus=FAILED --sign
  hookproof replay 7e57ca-12 --to http://127.0.0.1:3000 --curl

Exit codes:
  0 every answer was 200 (in a scheme: one that accepts), 1 another or no answer,
  2 usage or configuration error, 4 internal error`;

export function addForwardingCommands(program: Command, action: ActionMaker): void {
  const proxy = program
    .command('proxy')
    .description('forward plain HTTP to your receiver; show the deliveries, and why signatures do not match')
    .requiredOption('--to <url>', 'your receiver: an http:// URL')
    .option('--public-url <url>', PUBLIC_URL)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port to listen on; 0 chooses a free one', '4000')
    .option('--inspect <port>', 'port of the inspector page; 0 chooses a free one', '3001')
    .option(
      '--inspect-host <address>',
      'address to serve the inspector page on; on an address other than loopback, the page opens only with the ' +
        'token that is printed at startup',
      '127.0.0.1',
    )
    .option('--keep <n>', 'maximum number of deliveries to keep, in memory and as files', '500')
    .option('--keep-bytes <bytes>', 'maximum size of the kept deliveries, in memory and as files', '33554432')
    .option('--store <folder>', 'save deliveries as files in this folder (see below for the default)')
    .option('--no-store', 'keep deliveries in memory only')
    .option('--max-connections <n>', 'maximum number of open connections; further ones are closed at once', '1000')
    .option('--config <file>', 'configuration file (default: hookproof.yaml, if it exists)');
  withSettings(proxy, 'hmac.secret', 'hmac.header', 'scheme', 'api-key.value', 'api-key.header', 'timeout')
    .addHelpText('after', PROXY_HELP)
    .action(action(async () => (await import('../proxy/proxy.ts')).proxyCommand));

  const replay = program
    .command('replay')
    .argument('[id...]', 'ids of deliveries, as on the page of the proxy')
    .description('resend deliveries that `proxy` has saved')
    .option('--to <url>', 'the receiver')
    .option('--all', 'all saved deliveries, oldest first')
    .option('--last <n>', 'the last n deliveries')
    .option('--list', 'list the saved deliveries; send nothing')
    .option('--public-url <url>', PUBLIC_URL)
    .option('--sign', 'sign the body again, with the configured secret')
    .option('--set <path=value>', SET_HELP, collect)
    .option('--body <file>', 'send the bytes of this file as the body; "-" for standard input')
    .option('--curl', 'print a script with curl; send nothing')
    .option('--store <folder>', 'folder with the saved deliveries, if it is not the default');
  withYes(withEndpoint(replay))
    .addHelpText('after', REPLAY_HELP)
    .action(action(async () => (await import('../proxy/replay.ts')).replayCommand));
}
