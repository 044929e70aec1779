/** Reads the text format of Prometheus, as prom-client writes it. */
interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Returns the samples by name. Throws if a line is not in this format. */
export function readExposition(text: string): Map<string, Sample[]> {
  const samples = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    if (line === '' || /^# (?:HELP|TYPE) \S+ ./.test(line)) continue;
    const [, name = '', labels = '', value = ''] =
      /^([a-zA-Z_:][\w:]*)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? (NaN|\+Inf|-?[\d.]+(?:e[+-]?\d+)?)$/.exec(line) ?? [];
    if (name === '') throw new Error(`not in the text format of Prometheus: ${line}`);
    const pairs = Array.from(labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g), ([, label = '', text = '']) => [
      label,
      text,
    ]);
    const sample = { labels: Object.fromEntries(pairs), value: Number(value.replace('+Inf', 'Infinity')) };
    samples.set(name, [...(samples.get(name) ?? []), sample]);
  }
  return samples;
}
