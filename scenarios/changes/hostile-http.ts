/** Replacements for the transmit stage: requests that no HTTP client would write. They are made from the well-formed one. */
import type { Kit, Transmission } from '../scenario.ts';

/** Changes the lines of the head (the request line first, without line ends); the body stays as it is. */
export function editedHead(
  label: string,
  edit: (lines: readonly string[], kit: Kit) => readonly string[],
): Transmission {
  return {
    kind: 'raw',
    label,
    make(request, kit) {
      const end = request.indexOf('\r\n\r\n');
      const lines = request.subarray(0, end).toString('latin1').split('\r\n');
      return Buffer.concat([Buffer.from(edit(lines, kit).join('\r\n'), 'latin1'), request.subarray(end)]);
    },
  };
}

/** Changes the request line. */
export function requestLine(label: string, edit: (line: string) => string): Transmission {
  return editedHead(label, ([first = '', ...others]) => [edit(first), ...others]);
}

function isNamed(line: string, name: string): boolean {
  return line.toLowerCase().startsWith(`${name.toLowerCase()}:`);
}

/** Replaces the line of a header by the given lines; none leaves it out. `lines` gets the line as it was. */
export function headerLines(label: string, name: string, lines: (line: string) => readonly string[]): Transmission {
  return editedHead(label, (head) => head.flatMap((line) => (isNamed(line, name) ? lines(line) : [line])));
}

/** Adds a header line at the end of the head, unchecked. */
export function headerLineAdded(label: string, line: (kit: Kit) => string): Transmission {
  return editedHead(label, (head, kit) => [...head, line(kit)]);
}
