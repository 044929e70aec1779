/** What the page about many partners adds to the style of the report. Its digest stands in the policy of the page. */
export const FLEET_STYLE = `
.fleet header, .fleet main { max-width: 100rem; }
.fleet header > .close { margin-top: .5rem; }
.sr { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; color: var(--soft); font-size: .8rem; margin-bottom: .6rem; }
.legend span { display: inline-flex; align-items: center; }
.trend { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr)); gap: 1rem 2.5rem; }
.changed { list-style: none; columns: 16rem; column-gap: 2rem; font-size: .875rem; margin-top: .3rem; }
.changed li { padding: .1rem 0; break-inside: avoid; color: var(--soft); }
.changed b { color: var(--ink); font-weight: 600; }
#fleet { border-collapse: collapse; width: 100%; font-size: .85rem; table-layout: fixed; }
#fleet th, #fleet td { position: relative; text-align: left; vertical-align: top; font-weight: 400; padding: .45rem .5rem .45rem 0; border-top: 1px solid var(--line); }
#fleet thead th { border-top: 0; color: var(--soft); font-size: .75rem; vertical-align: bottom; }
#fleet thead .s { width: 3.2rem; padding-bottom: .6rem; }
#fleet thead .s span { writing-mode: vertical-rl; transform: rotate(180deg); white-space: nowrap; }
#fleet thead .o { width: 29%; }
#fleet th[scope=row] b { display: block; font-weight: 600; }
#fleet th[scope=row] span, #fleet .o span { display: block; color: var(--soft); font-size: .8rem; }
#fleet .o b { font-weight: 600; white-space: nowrap; }
#fleet .o em { font-style: normal; font-size: .75rem; border: 1px solid currentColor; border-radius: 3px; padding: 0 .35em; margin-left: .3em; color: var(--soft); }
#fleet .o em.worse { color: var(--fail); }
#fleet .o em.better { color: var(--pass); }
#fleet .links a { margin-right: .35rem; }
#fleet tbody td.s { font-weight: 600; font-variant-numeric: tabular-nums; white-space: nowrap; }
#fleet td i { display: inline-block; width: .65rem; height: .65rem; margin-right: .3rem; background: currentColor; }
#fleet td.v-fail i { clip-path: polygon(12% 0, 50% 38%, 88% 0, 100% 12%, 62% 50%, 100% 88%, 88% 100%, 50% 62%, 12% 100%, 0 88%, 38% 50%, 0 12%); }
#fleet td.v-harness-error i { background: none; border: 2px solid; }
#fleet td.v-warn i { clip-path: polygon(50% 0, 100% 100%, 0 100%); }
#fleet td.v-inconclusive i { clip-path: polygon(evenodd, 50% 0, 100% 50%, 50% 100%, 0 50%, 50% 0, 50% 25%, 25% 50%, 50% 75%, 75% 50%, 50% 25%); }
#fleet td.v-not-applicable i { height: 2px; margin-bottom: .25rem; }
@media screen and (min-width: 60rem) {
  .fleet #filter { position: static; }
  #fleet thead th { position: sticky; top: 0; background: var(--paper); z-index: 1; }
}
@media screen and (max-width: 60rem) {
  #fleet, #fleet tbody { display: block; }
  #fleet thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  #fleet tr { display: flex; flex-wrap: wrap; gap: .15rem 1rem; padding: .7rem 0; border-top: 1px solid var(--line); }
  #fleet tbody th, #fleet tbody td { border: 0; padding: 0; }
  #fleet th[scope=row], #fleet .o { flex: 0 0 100%; }
  #fleet td.q { display: none; }
  #fleet td.s::after { content: " " attr(data-w); font-weight: 400; }
  #fleet .links { line-height: 2; }
}
@media print {
  #fleet { font-size: 7.5pt; }
  #fleet .links { display: none !important; }
  #fleet tr { break-inside: avoid; }
}
`;
