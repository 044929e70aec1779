import { expect, it } from 'vitest';
import { withoutFolders } from '../../harness/cli/repeated-flags.ts';

it.each([
  ['--key /srv/keys/op.pem --partners ../other/partners', '--key op.pem --partners partners'],
  ["--log '/home/me/my logs/app.log' --ca ~/ca.pem", "--log 'app.log' --ca ca.pem"],
  ['`/etc/hookproof/acme.yaml`: is short', '`acme.yaml`: is short'],
  [
    '--effects https://one.example/a/b --config partners/acme.yaml',
    '--effects https://one.example/a/b --config partners/acme.yaml',
  ],
])('a text for a partner names files without the folders of the operator: %s', (text, shown) => {
  expect(withoutFolders(text)).toBe(shown);
});
