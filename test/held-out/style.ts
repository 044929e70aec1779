/** In which ways the bare receivers differ beside their faults. All of them are right. */
export interface Style {
  readonly name: string;
  readonly keyBeforeBody: boolean;
  readonly signatureFirst: boolean;
  /** The status for a body that is no notification. */
  readonly malformed: 400 | 422;
  readonly closes: boolean;
  readonly answer: (status: number) => { readonly body: string; readonly type: string };
}

const empty = () => ({ body: '', type: '' });
const plain = (status: number) => ({
  body: status === 200 ? 'OK' : `error ${status}`,
  type: 'text/plain; charset=utf-8',
});
const json = (status: number) => ({ body: JSON.stringify({ success: status === 200 }), type: 'application/json' });
const html = (status: number) => ({ body: `<!doctype html><title>${status}</title>`, type: 'text/html' });

export const STYLES: readonly Style[] = [
  {
    name: 'key before the body',
    keyBeforeBody: true,
    signatureFirst: true,
    malformed: 400,
    closes: false,
    answer: empty,
  },
  { name: 'signature first', keyBeforeBody: false, signatureFirst: true, malformed: 400, closes: false, answer: json },
  { name: 'key first, 422', keyBeforeBody: false, signatureFirst: false, malformed: 422, closes: false, answer: plain },
  { name: 'closing, HTML', keyBeforeBody: false, signatureFirst: true, malformed: 422, closes: true, answer: html },
];
