/** Writes the outcomes of a certification of many partners to the register, and derives the page from it. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EVIDENCE_LEVELS } from '../../../scenarios/index.ts';
import { keyIdOf, sha256 } from '../../certify/index.ts';
import type { FleetDocument, FleetPartner } from '../../fleet.ts';
import { changedSince, type Register, type RegisterRecord, recordOfPartner, signGrant } from '../../register/index.ts';
import { version } from '../../version.ts';
import { writePartnersPage } from '../partners/partners-page.ts';
import { appendRecords, type RegisterFlags, readRecords, registerOf, standingsAt } from '../partners/register-input.ts';
import { CERTIFICATE_FILES } from './certify-files.ts';

/** The events that record a certification; other events record a recheck or a decision of the operator. */
const OUTCOMES: ReadonlySet<string> = new Set(['certified', 'failed', 'refused', 'inconclusive', 'harness-error']);

interface About {
  /** The output folder, with a folder for each finished partner. */
  readonly folder: string;
  readonly privateKey: KeyObject;
  /** When the certification began. */
  readonly startedAt: string;
  /** The digest of the catalogue. */
  readonly catalogue: string;
}

export class FleetRegister {
  readonly #register: Register;
  readonly #privateKey: KeyObject;
  readonly #folder: string;
  readonly #catalogue: string;
  /** The runs that have a record, as partner and start time. A killed process may not have recorded its last runs. */
  readonly #known = new Set<string>();
  /** The latest earlier certification of each partner. */
  readonly #before = new Map<string, RegisterRecord>();

  private constructor(
    register: Register,
    { catalogue, folder, privateKey, startedAt }: About,
    records: readonly RegisterRecord[],
  ) {
    this.#register = register;
    this.#privateKey = privateKey;
    this.#folder = folder;
    this.#catalogue = catalogue;
    for (const record of records) {
      const { at, event, partner, run } = record;
      if (run !== null) this.#known.add(`${partner} ${run.startedAt}`);
      if (at < startedAt && OUTCOMES.has(event)) this.#before.set(partner, record);
    }
  }

  /** Opens the register and reads it. */
  static async open(flags: RegisterFlags, about: About): Promise<FleetRegister> {
    const register = await registerOf(flags);
    return new FleetRegister(register, about, await readRecords(register));
  }

  /** Returns the outcome of the partner's previous certification; null if there is none. */
  previousOf(partner: string): FleetPartner['previous'] {
    const last = this.#before.get(partner);
    return last === undefined ? null : { outcome: last.event as FleetPartner['outcome'] };
  }

  /** Adds a record for each partner whose run is not recorded yet. */
  async add(partners: readonly FleetPartner[]): Promise<void> {
    const records: RegisterRecord[] = [];
    for (const partner of partners) {
      const run = `${partner.name} ${partner.startedAt}`;
      if (partner.startedAt !== null && this.#known.has(run)) continue;
      const record = recordOfPartner(partner, {
        catalogue: this.#catalogue,
        version,
        due: null,
        grant: await this.#grantOf(partner),
      });
      if (record === null) continue;
      this.#known.add(run);
      records.push(record);
    }
    await appendRecords(this.#register, [createPublicKey(this.#privateKey)], records);
  }

  /**
   * Writes the page from the register, including the changes since the certification began, and closes the register.
   */
  async close(document: FleetDocument): Promise<void> {
    const { records } = await this.#register.read();
    const keys = [createPublicKey(this.#privateKey)];
    const now = standingsAt(records, keys, new Date());
    const before = standingsAt(records, keys, new Date(document.startedAt));
    const changes = before.length === 0 ? null : { since: document.startedAt, changed: changedSince(now, before) };
    const { complete, shard } = document;
    const caveats = [
      ...(complete
        ? []
        : ['The last certification is incomplete: still running, or interrupted. Continue with `--resume`.']),
      ...(shard === null ? [] : [`Shard ${shard.index} of ${shard.of}: only some of the partners.`]),
    ];
    await writePartnersPage({ outputDir: this.#folder }, now, { changes, caveats });
    await this.#register.close();
  }

  async #grantOf(partner: FleetPartner): Promise<string | null> {
    if (partner.certificate === null) return null;
    const bytes = await readFile(join(this.#folder, partner.name, CERTIFICATE_FILES.certificate));
    return grantOf(partner, bytes, this.#privateKey);
  }
}

/** Signs the grant of a partner; null if the partner is not certified. */
export function grantOf(
  { certificate, evidenceLevel, name, outcome, profile, revision, scheme, url }: FleetPartner,
  certificateBytes: Buffer,
  privateKey: KeyObject,
): string | null {
  if (certificate === null || outcome !== 'certified') return null;
  const level = EVIDENCE_LEVELS.find((one) => one === evidenceLevel) ?? 0;
  return signGrant(
    {
      kind: 'certificate',
      partner: name,
      url,
      ...certificate,
      certificate: sha256(certificateBytes),
      profile,
      revision,
      evidenceLevel: level,
      ...(scheme !== undefined && { scheme }),
      keyId: keyIdOf(privateKey),
    },
    privateKey,
  );
}
