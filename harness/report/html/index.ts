/** The parts of the pages, for pages that are served and not written to a file. */
export { comparisonBody } from './comparison-page.ts';
export { capital, field, html, joined, type Markup, textOf } from './markup.ts';
export { readAsset } from './page.ts';
export { barOf, shape } from './verdict-shapes.ts';
