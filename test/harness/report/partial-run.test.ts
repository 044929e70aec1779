import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import {
  createRedactor,
  renderHtml,
  renderHuman,
  renderJunit,
  renderNdjson,
  writeReports,
} from '../../../harness/report/index.ts';
import { render } from '../../../harness/report/reporters.ts';
import { documentWith, resultWith } from './documents.ts';

const PLAIN = { columns: 100, color: false, unicode: true };
const catalogue = { digest: 'sha256:ab', scenarios: 680 };

function partial(parts: Parameters<typeof documentWith>[0] = {}) {
  const results = ['a/1', 'a/2', 'a/3'].map((id) => resultWith({ id }));
  return documentWith({ results, catalogue, partial: true, partialReasons: ['selection'], ...parts });
}

describe('a partial run', () => {
  it.each([
    ['passed', partial(), '✓ 3 of 680 checks run, all passed (partial run, no verdict)  '],
    [
      'failed',
      partial({ results: [resultWith({ id: 'a/1', verdict: 'fail' }), resultWith({ id: 'a/2' })] }),
      '✗ 2 of 680 checks run, 1 failure (partial run, no verdict)  ',
    ],
    [
      'was interrupted before the second check',
      partial({
        interrupted: true,
        partialReasons: ['interruption'],
        results: [resultWith({ id: 'a/1' }), resultWith({ id: 'a/2', verdict: 'inconclusive', observed: '' })],
      }),
      '? 1 of 680 checks run, all passed (partial run, no verdict)  ',
    ],
  ])('that %s says how much was run instead of a verdict', (_, document, headline) => {
    expect(renderHuman(document, PLAIN).split('\n')[0]).toContain(headline);
  });

  it('never says conformant, in any report for people or CI', async () => {
    const document = partial();
    for (const name of ['human', 'html', 'github', 'junit', 'ctrf'] as const) {
      expect(await render(name, document, PLAIN), name).not.toMatch(/conformant/i);
    }
    expect(renderJunit(document)).toContain('<property name="partial" value="true"/>');
    expect(await renderHtml(document)).toContain('3 of 680 checks run, all passed (partial run, no verdict)');
    expect(renderNdjson(document)).toContain('"partial":true');
  });

  it('gets no badge, and says so', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'partial-'));
    const notices: string[] = [];
    let stdout = '';
    const written = await writeReports(
      partial(),
      [
        { name: 'badge', file: 'badge.svg' },
        { name: 'badge', file: null },
      ],
      {
        cwd,
        redactor: createRedactor({ values: [] }),
        stdout: new Writable({
          write(chunk, _encoding, done) {
            stdout += chunk;
            done();
          },
        }),
        notice: (message) => notices.push(message),
      },
    );
    expect({ written, stdout, files: await readdir(cwd), notices }).toEqual({
      written: [],
      stdout: '',
      files: [],
      notices: ['No badge is written: a partial run has no verdict.'],
    });
    await rm(cwd, { recursive: true });
  });
});
