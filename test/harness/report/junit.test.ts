import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderJunit } from '../../../harness/report/index.ts';
import { VERDICTS } from '../../../harness/report/result-document.ts';
import { anyCharacter } from '../../setup/any-character.ts';
import { parseXml, type XmlElement } from '../../setup/parse-xml.ts';
import { BASELINE, diagnosisWith, documentOf, documentWith, KNOWN, resultWith } from './documents.ts';

function outline(element: XmlElement): unknown[] {
  return [element.name, ...element.children.filter(({ name }) => name !== 'properties').map(outline)];
}

const oneOfEach = documentWith({
  results: VERDICTS.map((verdict) =>
    resultWith({ id: `signature/${verdict}`, verdict, reason: verdict === 'pass' ? '' : 'because' }),
  ),
});

describe('the JUnit report', () => {
  it('has the causes in its properties', () => {
    const stack = { name: 'flask', source: 'Server: Werkzeug' };
    const diagnosis = [diagnosisWith({ stack }), diagnosisWith({ relation: 'also', fault: 'other', title: 'Other' })];
    const [suite] = parseXml(renderJunit(documentWith({ diagnosis }))).children;
    const properties = suite?.children[0]?.children.map(({ attributes }) => [attributes.name, attributes.value]);
    expect(Object.fromEntries(properties ?? [])).toMatchObject({
      causes: '2',
      'cause.1': 'A missing signature is accepted (missing-signature-accepted, shown by one check)',
      'cause.1.mistake': 'absent-signature-passes',
      'cause.1.why': 'A sender that omits the header is accepted.',
      'cause.1.fix': 'Treat a missing header like an invalid one. (for flask)',
      'cause.2': 'Other (other, shown by one check)',
    });
  });

  it('reports unexplained failures', () => {
    const failed = ['a', 'b'].map((id) => resultWith({ id: `signature/${id}`, verdict: 'fail' }));
    const report = renderJunit(documentWith({ results: failed }));
    expect(report).toContain('<property name="causes" value="1"/>');
    expect(report).toContain('<property name="cause.1.checks" value="signature/a, signature/b"/>');
    expect(renderJunit(documentWith())).toContain('<property name="causes" value="0"/>');
  });

  it('skips a known failure with its reason, and fails for a stale entry', () => {
    const results = [
      resultWith({ verdict: 'fail', observed: '200', known: KNOWN }),
      resultWith({ id: 'signature/wrong', verdict: 'warn', known: KNOWN }),
    ];
    const report = renderJunit(documentWith({ results, baseline: BASELINE }));
    expect(outline(parseXml(report))).toEqual([
      'testsuites',
      ['testsuite', ['testcase', ['skipped']], ['testcase', ['system-out']]],
      ['testsuite', ['testcase', ['failure']]],
    ]);
    expect(report).toContain('known failure (200): The gateway. (owner: payments, until 2099-12-31)');
    expect(parseXml(report).attributes).toMatchObject({ tests: '3', failures: '1', skipped: '1' });
  });

  it('skips checks that are not scored, with their outcome', () => {
    const results = [
      resultWith({ id: 'valid/plain' }),
      resultWith({ id: 'valid/newer', verdict: 'fail', observed: '500' }),
      resultWith({ id: 'valid/newest' }),
    ];
    const scoring = { revision: 1, digest: 'x', notScored: ['valid/newer', 'valid/newest'] };
    const report = renderJunit(documentWith({ results, profile: 'staging', scoring }));
    expect(outline(parseXml(report))).toEqual([
      'testsuites',
      ['testsuite', ['testcase'], ['testcase', ['skipped']], ['testcase']],
    ]);
    expect(report).toContain('not scored in revision 1: expected 401, observed 500');
  });

  it('writes an element for each verdict', () => {
    expect(outline(parseXml(renderJunit(oneOfEach)))).toEqual([
      'testsuites',
      [
        'testsuite',
        ['testcase'],
        ['testcase', ['failure']],
        ['testcase', ['system-out']],
        ['testcase', ['error']],
        ['testcase', ['skipped']],
        ['testcase', ['error']],
      ],
    ]);
  });

  it('counts its tests by suite and in total, and describes the run', () => {
    const root = parseXml(renderJunit(oneOfEach));
    const counts = { tests: '6', failures: '1', errors: '2', skipped: '1', timestamp: '2026-11-21T10:00:00.000Z' };
    expect(root.attributes).toEqual({ name: 'hookproof', time: '0.840', ...counts });
    expect(root.children[0]?.attributes).toEqual({ name: 'signature', time: '0.075', ...counts });
    const properties = root.children[0]?.children[0]?.children.map((property) => Object.values(property.attributes));
    expect(properties?.filter(([name]) => !name?.startsWith('cause.'))).toEqual([
      ['url', 'http://127.0.0.1:8080/hooks'],
      ['features', 'hmac, api-key'],
      ['verdict', 'harness-error'],
      ['decision', 'Exit code 4: 1 harness error: no conclusion about the endpoint'],
      ['partial', 'false'],
      ['seed', '7f3a'],
      ['catalogue.digest', 'sha256:0123456789abcdef'],
      ['hookproof.version', '0.1.0'],
      ['causes', '1'],
    ]);
  });

  it('explains a failure', () => {
    const result = resultWith({
      verdict: 'fail',
      observed: '200',
      reason: 'accepted',
      reproduce: { curl: 'curl -X POST \\\n  "$URL" <&-', command: 'hookproof run --scenario signature/missing' },
    });
    const testcase = parseXml(renderJunit(documentWith({ results: [result] }))).children[0]?.children[1];
    expect(testcase?.attributes).toEqual({
      name: 'signature/missing: Rejects a delivery without a signature',
      classname: 'hookproof.signature',
      time: '0.013',
    });
    expect(testcase?.children[0]?.attributes).toEqual({ message: 'expected 401, observed 200', type: 'fail' });
    expect(testcase?.children[0]?.text).toBe(
      [
        'cause 1 of 1: Rejects a delivery without a signature',
        'check: signature/missing (must)',
        'verdict: fail',
        'expected: 401',
        'observed: 200',
        'reason: accepted',
        'why: Anyone who knows the URL could send notifications.',
        'fix: Treat a missing header like an invalid one: answer 401.',
        'requirements: hmac-missing',
        'rerun: hookproof run --scenario signature/missing',
        'curl: curl -X POST \\',
        '  "$URL" <&-',
      ].join('\n'),
    );
  });

  it('begins the text of a failure with the cause to which it belongs', () => {
    const [one, other] = ['signature/missing', 'valid/plain'].map((id) => resultWith({ id, verdict: 'fail' }));
    const report = renderJunit(documentWith({ results: [one!, other!], diagnosis: [diagnosisWith()] }));
    const texts = parseXml(report).children.map((suite) => suite.children[1]?.children[0]?.text.split('\n')[0]);
    expect(texts).toEqual([
      'cause 1 of 2: A missing signature is accepted (missing-signature-accepted, shown by one check)',
      'cause 2 of 2: Rejects a delivery without a signature',
    ]);
  });

  it('names the defect in the message of a failure, and keeps the name of the test', () => {
    const defect = 'Accepts a delivery without a signature';
    const results = [
      resultWith({ verdict: 'fail', observed: '200', defect }),
      resultWith({ id: 'valid/a', verdict: 'warn', level: 'must', observed: '400', defect }),
    ];
    const report = renderJunit(documentWith({ results, strict: true }));
    expect(report).toContain(`name="signature/missing: ${resultWith().title}"`);
    expect(report).toContain(`message="${defect}: expected 401, observed 200"`);
    expect(report).toContain(`\ndefect: ${defect}\ncheck: signature/missing (must)\n`);
    // A warning does not mention the level of its check.
    expect(report).toContain('\ncheck: valid/a\n');
  });

  it('fails a warning in a strict run', () => {
    const results = [resultWith({ verdict: 'warn' })];
    expect(outline(parseXml(renderJunit(documentWith({ results, strict: true }))))).toEqual([
      'testsuites',
      ['testsuite', ['testcase', ['failure']]],
    ]);
  });

  it('has an error when the run is incomplete', () => {
    const root = parseXml(renderJunit(documentWith({ interrupted: true, planned: 5 })));
    expect(root.attributes).toMatchObject({ tests: '2', errors: '1' });
    expect(root.children[1]?.children[1]?.children[0]?.attributes).toEqual({
      message: '1 of 5 planned checks evaluated, 4 not run: the run was interrupted',
      type: 'incomplete',
    });
  });

  it('is well-formed whatever the endpoint answered', () => {
    const markup = [']]>', '<![CDATA[', '<!--', '&', '&amp;', '"', "'"];
    const controls = ['\x00', '\x1b[31m', '\x9b1m', '\ud800', '\ufffe', '\r', '\t', '\u202e'];
    const unit = fc.oneof(fc.constantFrom(...markup, ...controls), fc.string({ unit: anyCharacter, maxLength: 3 }));
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        expect(() => parseXml(renderJunit(documentOf(text)))).not.toThrow();
      }),
      { numRuns: 60 },
    );
  });

  it('escapes commands of a log and control characters', () => {
    const commands = resultWith({ verdict: 'fail', observed: '##[debug]', fix: 'a\n::error::b' });
    expect(renderJunit(documentWith({ results: [commands] }))).not.toMatch(/##\[|^\s*::/m);
    const kept = resultWith({ verdict: 'fail', observed: 'a\x1b[1;31mb\x00c\ud800\ufffe "<&>\' d\te' });
    const failure = parseXml(renderJunit(documentWith({ results: [kept] }))).children[0]?.children[1]?.children[0];
    expect(failure?.attributes.message).toBe('expected 401, observed ab\\x00c\\ud800\\ufffe "<&>\' d\te');
  });

  it('takes a time that is proportional to the number of lines, whatever ends them', () => {
    const result = resultWith({ verdict: 'fail', reason: '\r'.repeat(100_000) });
    expect(() => parseXml(renderJunit(documentWith({ results: [result] })))).not.toThrow();
  });
});
