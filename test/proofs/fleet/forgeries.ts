/** Changes that an attacker with write access to the folder of a shard may make before the shards are joined. */
import { copyFile, link, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeKeyPair, readPrivateKey } from '../../../harness/certify/index.ts';
import { issueCertificate } from '../../../harness/certify/issue.ts';
import type { FleetDocument, FleetPartner } from '../../../harness/fleet.ts';

interface Shards {
  /** The folder of the shard with p001-dead, p003-hanging and p005-dead. */
  readonly one: string;
  /** The folder of the shard with p002-right, which is certified, p004-hostile and p006-dead. */
  readonly two: string;
  /** Another folder, which contains the signing key. */
  readonly folder: string;
}

type Forge = (shards: Shards) => Promise<unknown>;

const RIGHT = 'p002-right';
const NOW = new Date();

async function edit(file: string, change: (value: never) => void): Promise<void> {
  const value = JSON.parse(await readFile(file, 'utf8')) as never;
  change(value);
  await writeFile(file, JSON.stringify(value, null, 1));
}

/** Changes the entry of a partner in fleet.json and, if `both` is true, in its outcome.json. */
async function editPartner(shard: string, name: string, both: boolean, change: (one: FleetPartner) => void) {
  await edit(join(shard, 'fleet.json'), (fleet: FleetDocument) => {
    for (const one of fleet.partners) if (one.name === name) change(one);
  });
  if (both) await edit(join(shard, name, 'outcome.json'), ({ partner }: { partner: FleetPartner }) => change(partner));
}

const certified = (one: FleetPartner) =>
  Object.assign(one, {
    outcome: 'certified',
    refusals: [],
    certificate: { issuedAt: NOW.toISOString(), expiresAt: new Date(NOW.getTime() + 1e9).toISOString() },
  });

/** Returns each forgery with the reason why the shards are not joined. */
export function forgeries(): Readonly<Record<string, readonly [Forge, RegExp]>> {
  return {
    'fleet.json calls a failed partner certified': [
      ({ one }) => editPartner(one, 'p003-hanging', false, certified),
      /p003-hanging contains an outcome\.json that differs from fleet\.json/,
    ],
    'fleet.json and outcome.json call a failed partner certified': [
      ({ one }) => editPartner(one, 'p003-hanging', true, certified),
      /p003-hanging belongs to a certified partner, but has no certificate/,
    ],
    'a failed partner has the certificate of another one': [
      async ({ one, two }) => {
        await editPartner(one, 'p003-hanging', true, (partner) => {
          certified(partner).files.push('certificate.dsse.json', 'configuration.json');
        });
        for (const name of ['certificate.dsse.json', 'configuration.json']) {
          await copyFile(join(two, RIGHT, name), join(one, 'p003-hanging', name));
        }
      },
      /p003-hanging has an invalid certificate: the result document is not the certified one/,
    ],
    'a certified partner takes the whole folder of another one': [
      async ({ one, two }) => {
        const right = JSON.parse(await readFile(join(two, 'fleet.json'), 'utf8')) as FleetDocument;
        const source = right.partners.find(({ name }) => name === RIGHT)!;
        const { startedAt } = JSON.parse(await readFile(join(one, 'fleet.json'), 'utf8')) as FleetDocument;
        for (const name of source.files) await copyFile(join(two, RIGHT, name), join(one, 'p003-hanging', name));
        await editPartner(one, 'p003-hanging', true, (partner) => {
          const { name, url } = partner;
          Object.assign(partner, source, { name, url });
        });
        await edit(join(one, 'p003-hanging', 'outcome.json'), (outcome: { certification: string }) => {
          outcome.certification = startedAt;
        });
      },
      /p003-hanging contains a run\.json whose endpoint differs/,
    ],
    'a certificate has the signature of another key': [
      async ({ two }) => {
        const path = join(two, RIGHT, 'certificate.dsse.json');
        const other = readPrivateKey(makeKeyPair().privatePem, 'other');
        const documentBytes = await readFile(join(two, RIGHT, 'run.json'));
        const configurationBytes = await readFile(join(two, RIGHT, 'configuration.json'));
        const document = JSON.parse(documentBytes.toString());
        const forged = { document, documentBytes, url: document.target.url, configurationBytes, privateKey: other };
        const leaf = { leafKey: '5d'.repeat(32), trust: 'public', issuedAt: new Date(), validForMs: 1e9 } as const;
        await writeFile(path, issueCertificate({ ...forged, ...leaf }));
      },
      /p002-right has an invalid certificate: the certificate names the key [0-9a-f]{64}, which is not one of/,
    ],
    'a certificate is changed': [
      async ({ two }) => {
        const path = join(two, RIGHT, 'certificate.dsse.json');
        const text = await readFile(path, 'utf8');
        const { payload } = JSON.parse(text) as { payload: string };
        const changed = Buffer.from(payload, 'base64').toString().replace('"staging"', '"basic"');
        await writeFile(path, text.replace(payload, Buffer.from(changed).toString('base64')));
      },
      /p002-right has an invalid certificate: the signature is invalid/,
    ],
    'the run of a certified partner is changed': [
      async ({ two }) => {
        const path = join(two, RIGHT, 'run.json');
        await writeFile(path, (await readFile(path, 'utf8')).replace('"hookproof"', '"hookproof" '));
      },
      /p002-right has an invalid certificate: the result document is not the certified one/,
    ],
    'the configuration of a certified partner is changed': [
      ({ two }) => edit(join(two, RIGHT, 'configuration.json'), () => {}),
      /p002-right contains a configuration\.json that is not the certified one/,
    ],
    'a certificate has another endpoint, profile or date in fleet.json': [
      ({ two }) =>
        editPartner(two, RIGHT, true, (partner) => {
          partner.certificate!.expiresAt = '2099-01-01T00:00:00.000Z';
        }),
      /p002-right has a certificate whose endpoint, revision or time differs/,
    ],
    'fleet.json hides the failures of a partner': [
      ({ one }) =>
        editPartner(one, 'p003-hanging', true, (partner) => {
          Object.assign(partner, { outcome: 'inconclusive', verdict: 'inconclusive' });
        }),
      /p003-hanging contains a run\.json whose result differs/,
    ],
    'fleet.json calls a finished partner not run': [
      ({ one }) =>
        editPartner(one, 'p003-hanging', false, (partner) => {
          Object.assign(partner, { outcome: 'not-run', startedAt: null });
        }),
      /p003-hanging contains a result, but fleet\.json lists none/,
    ],
    'fleet.json has another name for a partner': [
      async ({ one }) => {
        await editPartner(one, 'p003-hanging', true, (partner) => Object.assign(partner, { name: 'p003-other' }));
        await rename(join(one, 'p003-hanging'), join(one, 'p003-other'));
      },
      /their partners are not those of the certification/,
    ],
    'the result is of an earlier certification': [
      ({ one }) =>
        edit(join(one, 'fleet.json'), (fleet: FleetDocument) => {
          fleet.startedAt = '2026-01-01T00:00:00.000Z';
        }),
      /is the result of another certification/,
    ],
    'a file is a symbolic link': [
      async ({ two, folder }) => {
        await rm(join(two, RIGHT, 'report.html'));
        await symlink(join(folder, 'operator.pem'), join(two, RIGHT, 'report.html'));
      },
      /p002-right contains report\.html, which is a link or not a file/,
    ],
    'a file is a hard link': [
      async ({ two, folder }) => {
        await rm(join(two, RIGHT, 'report.html'));
        await link(join(folder, 'operator.pem'), join(two, RIGHT, 'report.html'));
      },
      /p002-right contains report\.html, which is a link or not a file/,
    ],
    'the folder of a partner is a link': [
      async ({ two }) => {
        await rename(join(two, RIGHT), join(two, 'elsewhere'));
        await symlink('elsewhere', join(two, RIGHT));
      },
      /p002-right is not a folder/,
    ],
    'another file or a folder is added': [
      ({ two }) => mkdir(join(two, RIGHT, 'more')),
      /p002-right contains more, which is not part of the result/,
    ],
    'a file name leads out of the folder': [
      ({ two }) => editPartner(two, RIGHT, true, (partner) => partner.files.push('..')),
      /p002-right contains \.\., which is a link or not a file|fleet\.json that this version of hookproof can read/,
    ],
    'a partner name leads out of the folder': [
      ({ two }) => editPartner(two, RIGHT, false, (partner) => Object.assign(partner, { name: '../outside' })),
      /is not a fleet\.json that this version of hookproof can read/,
    ],
  };
}
