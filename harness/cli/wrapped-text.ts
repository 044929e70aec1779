/** Wraps text for people on a terminal: long lines are broken between words. */
import { createLayout } from '../report/index.ts';
import { displayOf } from './terminal.ts';

/** Matches lines that are not wrapped: compared bytes, which already fit, and commands to copy. */
const UNBROKEN = /^ {2}[-+] |^(?:Run|Try) it /;
/** Matches a label and the space after it, or an indentation. */
const LABEL = /^(?: {0,2}\S+ {2,}| +)?/;

/** Writes wrapped text to standard output. On a terminal, continuation lines align with the text after the label. */
export function writeWrapped(text: string): void {
  const { isTTY, ...display } = displayOf(process.stdout);
  const layout = createLayout(display);
  const fit = (line: string): string[] => {
    if (!isTTY || line.length <= layout.width || UNBROKEN.test(line)) return [line];
    const lead = LABEL.exec(line)?.[0] ?? '';
    return layout.paragraph(lead, line.slice(lead.length));
  };
  process.stdout.write(`${text.trimEnd().split('\n').flatMap(fit).join('\n')}\n`);
}
