/** A strict reader of the text format of Prometheus, version 0.0.4. Throws at the first line that is not as the format says. */

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

function fail(line: string, why: string): never {
  throw new Error(`${why}: ${line}`);
}

function labelsOf(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const [, name = '', value = '', end] = LABEL.exec(text) ?? fail(line, 'no label');
    if (Object.hasOwn(labels, name)) fail(line, 'a label twice');
    if (end === ',' && LABEL.lastIndex === text.length) fail(line, 'a comma at the end');
    labels[name] = value;
  }
  return labels;
}

function numberOf(text: string, line: string): number {
  if (text === '+Inf') return Number.POSITIVE_INFINITY;
  if (text === 'NaN') return Number.NaN;
  if (!/^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) fail(line, 'no number');
  return Number(text);
}

function checkHistogram({ name, samples }: Family): void {
  const groups = new Map<string, Sample[]>();
  for (const sample of samples) {
    const { le: _, ...others } = sample.labels;
    const key = JSON.stringify(others);
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  for (const group of groups.values()) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => numberOf(labels.le ?? '', `${name} le`));
    const counts = buckets.map(({ value }) => value);
    const count = group.find((sample) => sample.name === `${name}_count`)?.value;
    const rising = (values: number[]) =>
      values.every((value, index) => index === 0 || value >= (values[index - 1] ?? 0));
    if (bounds.at(-1) !== Number.POSITIVE_INFINITY || !rising(bounds)) fail(name, 'buckets out of order');
    if (!rising(counts) || counts.at(-1) !== count) fail(name, 'counts that do not add up');
    if (!group.some((sample) => sample.name === `${name}_sum`)) fail(name, 'no sum');
  }
}

export function readExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) fail(text.slice(-40), 'no newline at the end');
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let help: { name: string; text: string } | undefined;
  let current: Family | undefined;
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    if (line.startsWith('# HELP ')) {
      const [, name = '', words = ''] = new RegExp(`^# HELP (${NAME}) (.+)$`).exec(line) ?? fail(line, 'no HELP');
      help = { name, text: words };
    } else if (line.startsWith('# TYPE ')) {
      const [, name = '', type = ''] =
        new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary)$`).exec(line) ?? fail(line, 'no TYPE');
      if (families.has(name)) fail(line, 'a family twice');
      if (help?.name !== name) fail(line, 'a family without HELP');
      current = { name, type, help: help.text, samples: [] };
      families.set(name, current);
    } else {
      const [, name = '', labels = '', value = ''] =
        new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`).exec(line) ?? fail(line, 'no sample');
      if (current === undefined) fail(line, 'a sample without a family');
      const { name: family, type, samples } = current;
      if (!(SUFFIXES[type] ?? []).some((suffix) => name === `${family}${suffix}`)) fail(line, `not of ${family}`);
      const sample = { name, labels: labelsOf(labels, line), value: numberOf(value, line) };
      const key = `${name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
      if (seen.has(key)) fail(line, 'a series twice');
      if (type === 'counter' && !(sample.value >= 0)) fail(line, 'a negative counter');
      seen.add(key);
      samples.push(sample);
    }
  }
  for (const family of families.values()) if (family.type === 'histogram') checkHistogram(family);
  return families;
}
