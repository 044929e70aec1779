import { describe, expect, it } from 'vitest';
import { CROSSINGS, coverageOf, PLAIN, PRUNED, uncovered } from '../../scenarios/crossings.ts';
import { FLAWS, type FlawName, SHAPES, type ShapeName } from '../../scenarios/dimensions.ts';
import { certificateRefused } from '../../scenarios/expectations.ts';
import { scenarioOf } from '../../scenarios/forgery.ts';
import { type FollowUp, findScenario } from '../../scenarios/index.ts';
import { assemble, deliveriesOf, fakeKit, someCredentials, statesOf } from './credential-check.ts';

const FLAW_NAMES = Object.keys(FLAWS) as FlawName[];
const SHAPE_NAMES = Object.keys(SHAPES) as ShapeName[];
const kit = fakeKit(someCredentials());

/** Every delivery of the crossings with its follow-ups. */
const deliveries = CROSSINGS.flatMap((crossing) => {
  const scenario = scenarioOf(crossing);
  const all = 'flow' in scenario ? scenario.flow(kit).flat() : [{ ...scenario, label: crossing.id }];
  return all.map((delivery) => ({ crossing, delivery }));
});

const followUps = (role: FollowUp['role']) =>
  deliveries.flatMap(({ crossing, delivery }) =>
    (delivery.followUps ?? []).filter((one) => one.role === role).map((one) => ({ crossing, one })),
  );

describe('the table of dimensions', () => {
  it('sends every combination, or has a reason for leaving it out', () => {
    expect(uncovered()).toEqual([]);
  });

  it('has no rule that leaves out only combinations that are sent', () => {
    const idle = PRUNED.filter(
      ({ flaws, shapes, reason }) =>
        !flaws.some((flaw) =>
          SHAPE_NAMES.some(
            (name) =>
              (shapes.includes(name) || shapes.includes(SHAPES[name].dimension)) &&
              coverageOf(flaw, name).reason === reason,
          ),
        ),
    );
    expect(idle).toEqual([]);
  });

  it('uses every shape and every flaw', () => {
    const unused = SHAPE_NAMES.filter((shape) => FLAW_NAMES.every((flaw) => coverageOf(flaw, shape).ids.length === 0));
    expect(unused).toEqual([]);
    expect(Object.values(PLAIN).filter((id) => findScenario(id) === undefined)).toEqual([]);
  });

  it('has every crossing in the catalogue', () => {
    expect(CROSSINGS.filter(({ id }) => findScenario(id) === undefined).map(({ id }) => id)).toEqual([]);
  });
});

describe('the deliveries of the table', () => {
  it('lack exactly the credential of their flaw', () => {
    const wrong = deliveries.filter(({ crossing, delivery }) => {
      const { credential } = FLAWS[crossing.flaw];
      const { signature, key } = statesOf(assemble(delivery.change, kit), kit);
      const lacks = { signature: signature !== 'right', 'API key': key !== 'right', 'client certificate': false };
      const hasNoCertificate = delivery.change.connect?.clientCertificate === 'none';
      return (
        lacks.signature !== (credential === 'signature') ||
        lacks['API key'] !== (credential === 'API key') ||
        hasNoCertificate !== (credential === 'client certificate')
      );
    });
    expect(wrong.map(({ crossing }) => crossing.id)).toEqual([]);
  });

  it('have follow-ups that lack it too', () => {
    const all = [...followUps('narrows'), ...followUps('compares')];
    const wrong = all.filter(({ crossing, one }) => {
      const { signature, key } = statesOf(assemble(one.change, kit), kit);
      const { credential } = FLAWS[crossing.flaw];
      return credential === 'signature' ? signature === 'right' : credential === 'API key' && key === 'right';
    });
    expect(all.length).toBeGreaterThan(100);
    expect(wrong.map(({ crossing }) => crossing.id)).toEqual([]);
  });

  it('are compared with requests that carry no notification or go to a random path', () => {
    const targets = followUps('compares').map(({ one }) => {
      const { head, body } = assemble(one.change, kit);
      return { isEmpty: body.length === 0, isElsewhere: !/hook/i.test(head.target) };
    });
    expect(targets.length).toBeGreaterThan(0);
    expect(targets.filter(({ isEmpty, isElsewhere }) => !isEmpty && !isElsewhere)).toEqual([]);
  });

  it('may be rejected for their shape where they lack a client certificate', () => {
    const withoutCertificate = deliveries.filter(({ crossing }) => crossing.flaw === 'no-certificate');
    const passOf = (id: string, shape: string) =>
      withoutCertificate.find(({ crossing, delivery }) => crossing.id === id && delivery.label === shape)?.delivery
        .expect.pass;
    const elsewhere = ['3xx', '4xx', 501, 505, 'closed'];
    expect(passOf('mtls/no-certificate-other-requests', 'PUT')).toEqual(expect.arrayContaining(elsewhere));
    expect(passOf('mtls/no-certificate-other-requests', 'text/plain')).toEqual(expect.arrayContaining(['4xx', 501]));
    expect(passOf('mtls/no-certificate-other-requests', 'text/plain')).not.toContain('3xx');
    expect(passOf('mtls/no-certificate-other-kinds', 'REFUND')).toEqual(certificateRefused.pass);
    expect(withoutCertificate.flatMap(({ delivery }) => delivery.expect.pass)).not.toContain(200);
  });

  it('carry the cookies that the endpoint has set', () => {
    const signed = { ...kit, cookies: ['sid=1', 'theme=dark'] };
    const { head } = assemble(deliveriesOf(findScenario('signature/unsigned-session-cookie')!, kit)[0]!.change, signed);
    expect(head.headers.find(([name]) => name === 'Cookie')?.[1]).toMatch(/^sid=1; theme=dark; session=/);
  });
});
