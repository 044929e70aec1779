/** A flag as the user writes it, from its name in the program: `perHost` is `--per-host`. */
export function flagName(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
