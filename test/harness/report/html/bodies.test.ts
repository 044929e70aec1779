import { describe, expect, it } from 'vitest';
import { changedBytes } from '../../../../harness/report/changed-bytes.ts';
import { bodyHex, bodyText } from '../../../../harness/report/html/bodies.ts';
import { html, textOf } from '../../../../harness/report/html/markup.ts';

const bytes = (text: string) => Buffer.from(text, 'utf8');

const plain = (id: string) =>
  `{"id":"7e57ca5e-${id}","at":1795290762,"data":{"status":"COMPLETED","memo":"äö","amount":"1.0"}}`;

/** Renders the probe with [added] and {removed} text. */
function marked(probe: string, control = plain('1eab'), other: string | null = plain('d968')): string | null {
  const changes = changedBytes(bytes(probe), bytes(control), other === null ? null : bytes(other));
  if (changes === null) return null;
  const text = textOf(html`${bodyText(bytes(probe), changes)}`);
  return text
    .replaceAll('&quot;', '"')
    .replaceAll(/<mark>(.*?)<\/mark>/gs, '[$1]')
    .replaceAll(/<del>(.*?)<\/del>/gs, '{$1}');
}

describe('changed bytes', () => {
  it('differ from the control, and not in each delivery', () => {
    expect(marked(plain('77aa'))).toBe(plain('77aa'));
    expect(marked(plain('77aa').replace('1795290762', '1795290763'))).not.toContain('[');
    // Without a second control, the values that differ in each delivery are unknown.
    expect(marked(plain('77aa'), undefined, null)).toContain('[77aa]');
  });

  it('are exact where something is added, removed or replaced', () => {
    const probe = (from: string, to: string) => marked(plain('77aa').replace(from, to));
    expect(probe('"at":', '"at" : ')).toContain('"at"[ ]:[ ]1795290762');
    expect(probe('"memo":"äö",', '')).toContain('"COMPLETED","{memo":"äö","}amount"');
    expect(probe('COMPLETED', 'CREATED')).toContain('"{COMPLETED}[CREATED]"');
    expect(probe('äö', 'äü')).toContain('"{äö}[äü]"');
    expect(marked(`${plain('77aa')}\n`)).toMatch(/\}\}\[<i>\\n<\/i>\n\]$/);
    expect(marked('')).toMatch(/^\{.*\}$/s);
  });

  it('are not marked when the whole notification differs', () => {
    expect(marked(`[${'"other words", '.repeat(20)}1]`)).toBeNull();
  });

  it('are shown in hex with the line before them', () => {
    const control = 'a'.repeat(8) + 'b'.repeat(8) + 'c'.repeat(40);
    const probe = bytes(`${control.slice(0, 20)}  ${control.slice(20)}`);
    const changes = [{ start: 20, end: 22, removed: Buffer.alloc(0) }];
    expect(textOf(bodyHex(probe, changes))).toBe(
      [
        '<i>…</i>',
        '<i>0008</i>  62 62 62 62 62 62 62 62  bbbbbbbb',
        '<i>0010</i>  63 63 63 63 <mark>20 20</mark> 63 63  cccc<mark>  </mark>cc',
        '<i>…</i>',
        '',
      ].join('\n'),
    );
    expect(textOf(bodyHex(Buffer.from([0, 255, 0x3c]), []))).toMatch(/^<i>0000<\/i> {2}00 ff 3c +\.\.&lt;\n$/);
  });
});
