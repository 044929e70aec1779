/** The reader itself: it has to find what is wrong, or it proves nothing about the metrics. */
import { expect, it } from 'vitest';
import { readExposition } from './exposition.ts';

const head = '# HELP a_total Words.\n# TYPE a_total counter\n';
const histogram = '# HELP h Words.\n# TYPE h histogram\n';

it('reads what is right', () => {
  const families = readExposition(
    `${head}a_total{x="1",y="a \\"b\\" \\\\ \\n {}, "} 1\na_total 2e3\n\n${histogram}h_bucket{le="0.1"} 1\nh_bucket{le="+Inf"} 2\nh_sum 3.5\nh_count 2\n`,
  );
  expect(families.get('a_total')?.samples).toEqual([
    { name: 'a_total', labels: { x: '1', y: 'a \\"b\\" \\\\ \\n {}, ' }, value: 1 },
    { name: 'a_total', labels: {}, value: 2000 },
  ]);
  expect(families.get('h')?.samples).toHaveLength(4);
});

it.each([
  ['no newline at the end', `${head}a_total 1`],
  ['no HELP', '# TYPE a_total counter\na_total 1\n'],
  ['an empty HELP', '# HELP a_total \n# TYPE a_total counter\na_total 1\n'],
  ['an unknown TYPE', '# HELP a x\n# TYPE a number\na 1\n'],
  ['a family twice', `${head}a_total 1\n${head}a_total{x="1"} 1\n`],
  ['a series twice', `${head}a_total{x="1",y="2"} 1\na_total{y="2",x="1"} 1\n`],
  ['a label twice', `${head}a_total{x="1",x="2"} 1\n`],
  ['a label without quotes', `${head}a_total{x=1} 1\n`],
  ['a quote in a label', `${head}a_total{x="a"b"} 1\n`],
  ['a comma at the end', `${head}a_total{x="1",} 1\n`],
  ['a comment of another kind', `${head}# EOF\n`],
  ['a value that is no number', `${head}a_total one\n`],
  ['a negative counter', `${head}a_total -1\n`],
  ['another family', `${head}b_total 1\n`],
  ['a sample without a family', 'a 1\n'],
  ['a histogram without +Inf', `${histogram}h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n`],
  ['a histogram that falls', `${histogram}h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n`],
  ['a histogram that does not add up', `${histogram}h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n`],
  ['a histogram without a sum', `${histogram}h_bucket{le="+Inf"} 1\nh_count 1\n`],
])('refuses %s', (_what, text) => {
  expect(() => readExposition(text)).toThrow();
});
