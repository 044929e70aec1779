import { describe, expect, it } from 'vitest';
import { headerValues } from '../../../contract/index.ts';
import { SCHEMES, type Scheme, verifyWithScheme } from '../../../contract/signing/index.ts';
import { assemble } from '../../../harness/run/assemble.ts';
import { createKit } from '../../../harness/run/kit.ts';
import { faultOfControl, faultOfProbe, isAuthentic } from '../../../harness/run/oracle.ts';
import { planScenarios, targetOf } from '../../../harness/run/plan.ts';
import { withoutHeader } from '../../../scenarios/changes/addressing.ts';
import { keyed, literal, unsigned } from '../../../scenarios/changes/signing.ts';
import { SHAPES } from '../../../scenarios/dimensions.ts';
import { CATALOGUE, type Change, EVERY_SUITE, type Scenario } from '../../../scenarios/index.ts';
import { secretOf } from '../../mutants/scheme-requests.ts';

const NOW = new Date();

function partnerIn(scheme: Scheme) {
  return { url: 'http://127.0.0.1:9/hooks', signing: { secret: secretOf(scheme), scheme } };
}

const called = (name: string) => SCHEMES.find((scheme) => scheme.name === name) as Scheme;
const planIn = (scheme: Scheme) => planScenarios(targetOf(partnerIn(scheme)));
const applicable = (scheme: Scheme) =>
  planIn(scheme)
    .filter(({ obstacle }) => obstacle === null)
    .map(({ scenario }) => scenario.id);

describe('the checks of a scheme', () => {
  // In the others, the slow tests would find a harness error.
  it.each(['stripe', 'square', 'github'].map((name) => [name, called(name)] as const))(
    'of %s are what they claim, and its plain delivery is valid',
    (_, scheme) => {
      const partner = partnerIn(scheme);
      const kit = createKit(partner, 'seed', 'controls', NOW);
      const control = assemble({}, kit, partner);
      expect(isAuthentic(control, partner)).toBe(true);
      expect(faultOfControl(control, partner)).toBeNull();
      const { body, headers, url } = control.prepared;
      const report = verifyWithScheme(scheme, { body, headers, url }, partner.signing.secret, Date.now() / 1000);
      expect(report).toMatchObject({ matches: true, outOfTolerance: null });
      const wrong = planIn(scheme).flatMap(({ scenario, obstacle }) => {
        if (obstacle !== null) return [];
        const own = createKit(partner, 'other seed', scenario.id, NOW);
        const deliveries = 'flow' in scenario ? scenario.flow(own).flat() : 'change' in scenario ? [scenario] : [];
        const faults = deliveries.map((one) =>
          faultOfProbe(assemble(one.change, own, partner), partner, one.expect.authentic),
        );
        return faults.some((fault) => fault !== null) ? [scenario.id] : [];
      });
      expect(wrong).toEqual([]);
    },
  );

  it('are left out where the scheme makes them valid, or has nothing that they change', () => {
    const [github, shopify, stripe] = ['github', 'shopify', 'stripe'].map((name) => applicable(called(name)));
    expect(github).not.toContain('signature/hex');
    expect(shopify).toContain('signature/hex');
    expect(shopify).not.toContain('scheme/time-past');
    expect(stripe).toContain('scheme/time-past');
    expect(stripe).not.toContain('scheme/id-changed');
    for (const ids of [github, shopify, stripe]) {
      expect(ids).toContain('signature/missing');
      expect(ids?.filter((id) => /^(?:typo-key|effects|rotation)\//.test(id))).toEqual([]);
    }
  });

  it('change older signatures as they change the signature, unless only that is to be invalid', () => {
    const partner = partnerIn(called('github'));
    const kit = createKit(partner, 'seed', 'controls', NOW);
    const sent = (change: Change) => {
      const made = assemble(change, kit, partner);
      const values = ['X-Hub-Signature-256', 'X-Hub-Signature'].map((name) =>
        headerValues(made.prepared.headers, name),
      );
      return { made, values: values.map(([first]) => first?.slice(0, 7)), fault: faultOfProbe(made, partner, false) };
    };
    expect(sent({ sign: unsigned })).toMatchObject({ values: [undefined, undefined], fault: null });
    expect(sent({ sign: literal('x') })).toMatchObject({ values: ['sha256=', 'sha1=x'], fault: null });
    expect(sent({ address: withoutHeader('signature', '') })).toMatchObject({ values: [undefined, undefined] });
    const alone = sent({ sign: { ...unsigned, keepsOlder: true } });
    expect(alone).toMatchObject({ values: [undefined, expect.stringMatching(/^sha1=/)], fault: null });
    // A signature with SHA-1 in the newer header would be valid in the older one.
    const sha1 = sent({
      sign: { label: '', make: (body, own) => keyed(body, own, own.secret, 'sha1').toString('hex') },
    });
    expect(sha1.fault).toBeNull();
    const kept = { ...alone.made, change: { sign: unsigned } };
    expect(faultOfProbe(kept, partner, false)).toBe('its X-Hub-Signature should be invalid but is valid');
  });

  it('send no handshake of the sender itself as one of another sender', () => {
    const bodyIn = (scheme: Scheme) => {
      const partner = partnerIn(scheme);
      const { change } = SHAPES['form-handshakes'];
      return `${assemble(change, createKit(partner, 'seed', 'controls', NOW), partner).prepared.body}`;
    };
    expect(bodyIn(called('github'))).toContain('ssl_check=1');
    expect(bodyIn(called('slack'))).not.toContain('ssl_check');
    expect(bodyIn(called('slack'))).toContain('url_verification');
  });

  it("derive from a scheme of one's own", () => {
    const own: Scheme = {
      ...called('stripe'),
      name: 'own',
      headers: { 'X-Time': '{timestamp}', 'X-Id': '{id}', 'X-Sign': '{signature}' },
      signed: '{id}:{timestamp}:{url}:{body}',
      algorithm: 'sha512',
      signature: 'sha512={value}',
      separator: ';',
    };
    const ids = applicable(own);
    for (const id of ['id-changed', 'time-past', 'other-url', 'other-algorithm', 'valid-last', 'no-prefix']) {
      expect(ids).toContain(`scheme/${id}`);
    }
    expect(ids).not.toContain('signature/hmac-sha512');
  });

  it('are not part of a run in the scheme of the specification', () => {
    const target = targetOf({ url: 'http://127.0.0.1:9/hooks', signing: { secret: 's' } });
    const planned = planScenarios(target).map(({ scenario }) => scenario.id);
    expect(planned).toEqual(CATALOGUE.flatMap(({ scenarios }) => scenarios.map(({ id }: Scenario) => id)));
    expect(EVERY_SUITE.length).toBe(CATALOGUE.length + 1);
  });
});
