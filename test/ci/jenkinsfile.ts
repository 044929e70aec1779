/**
 * What can be said of a Jenkinsfile without Groovy: that its quotes and brackets close, which blocks it has, and what its shell steps are. It is no parser
 * of Groovy: what the plugins of Jenkins make of it shows in Jenkins alone.
 */

export interface Jenkinsfile {
  /** Every block by the names of those around it: `pipeline.stages.stage.steps`. */
  readonly blocks: readonly string[];
  /** The shell scripts, as the shell gets them. */
  readonly scripts: readonly string[];
  /** Texts in quotes into which Groovy would put values. */
  readonly interpolated: readonly string[];
}

const TOKEN =
  /'''([\s\S]*?)'''|"""([\s\S]*?)"""|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|([A-Za-z_]\w*)|([{}()[\]])|(['"])|[\s\S]/g;
const CLOSES: Readonly<Record<string, string>> = { '}': '{', ')': '(', ']': '[' };

/** @throws SyntaxError when a quote or a bracket does not close */
export function readJenkinsfile(text: string): Jenkinsfile {
  const blocks: string[] = [];
  const scripts: string[] = [];
  const interpolated: string[] = [];
  const open: { bracket: string; name: string }[] = [];
  let word = '';
  for (const [token, tripled, tripledDouble, single, double, name, bracket, quote] of text.matchAll(TOKEN)) {
    const at = () => `line ${text.slice(0, text.indexOf(token)).split('\n').length}`;
    if (quote !== undefined) throw new SyntaxError(`a ${quote} does not close, ${at()}`);
    const content = tripled ?? tripledDouble ?? single ?? double;
    if (content !== undefined) {
      if (word === 'sh') scripts.push(content);
      if ((tripledDouble ?? double ?? '').includes('$')) interpolated.push(content);
    } else if (name !== undefined) word = name;
    else if (bracket !== undefined && CLOSES[bracket] === undefined) {
      open.push({ bracket, name: bracket === '{' ? word : '' });
      if (bracket === '{') blocks.push(open.flatMap((one) => (one.name === '' ? [] : [one.name])).join('.'));
    } else if (bracket !== undefined && open.pop()?.bracket !== CLOSES[bracket]) {
      throw new SyntaxError(`a ${bracket} closes what is not open, ${at()}`);
    }
  }
  if (open.length > 0) throw new SyntaxError(`${open.map((one) => one.bracket).join(' ')} does not close`);
  return { blocks, scripts, interpolated };
}
