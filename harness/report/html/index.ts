/** The building blocks of the pages, for the console's pages. */
export { comparisonBody } from './comparison-page.ts';
export { capital, field, html, joined, type Markup, textOf } from './markup.ts';
export { readAsset } from './page.ts';
export { barOf, shape } from './verdict-shapes.ts';
