/**
 * Keeps hostile text from commanding a runner of GitHub Actions. A runner reads every line of a log: `::name::` commands at the start of
 * a line, whatever white space stands before it, and `##[name]` anywhere in it. Characters that a comparison may ignore are passed over.
 */

/** The colons of a command at the start of a line. */
const LEADING = /^((?:[^\S\n]|\p{Default_Ignorable_Code_Point})*):(?=\p{Default_Ignorable_Code_Point}*:)/gmu;

/** The older form, anywhere. */
const BRACKET = /#(?=\p{Default_Ignorable_Code_Point}*#\p{Default_Ignorable_Code_Point}*\[)/gu;

/** The text in which no line is a command; a space more is all that a reader sees of it. */
export function defuse(text: string): string {
  return text.replace(LEADING, '$1: ').replace(BRACKET, '# ');
}

/** Whether the log is read by a runner. */
export function inActions(env: Readonly<Record<string, string | undefined>>): boolean {
  return env.GITHUB_ACTIONS === 'true';
}
