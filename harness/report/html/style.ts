/** The style of the page. Its digest stands in the policy of the page, so it is written into it exactly as it stands here. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #f7f7f5; --card: #fff; --ink: #1b1f24; --soft: #565e69; --line: #d9dce0; --well: #f1f2f3; --link: #0b57a4;
  --fail: #b3261e; --harness-error: #9c1b66; --warn: #855300; --inconclusive: #5a48b0; --pass: #19703c; --not-applicable: #646c77;
  --mark: #ffe08a; --mark-ink: #3d2c00; --mark-line: #b98a00; --gone: #8c1d18; --bar: #c3ccd6;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #121417; --card: #1a1d21; --ink: #e6e8eb; --soft: #a4acb7; --line: #32373e; --well: #22262b; --link: #8ec1f7;
    --fail: #ff8f86; --harness-error: #f492cc; --warn: #efbb55; --inconclusive: #b8abff; --pass: #6fd197; --not-applicable: #9aa2ad;
    --mark: #6b5200; --mark-ink: #fff3cf; --mark-line: #d2a52c; --gone: #ffaaa3; --bar: #4b5561;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; scroll-padding-top: 5rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; overflow-wrap: anywhere; }
header, main { max-width: 76rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 2rem; padding-bottom: 1.5rem; }
h1, h2, h3, h4, p, ul, ol, dl, dd, figure { margin: 0; padding: 0; }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible, summary:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre, .url { font-family: var(--mono); font-size: .9em; }
.short { white-space: nowrap; }
.brand { color: var(--soft); font-size: .8rem; letter-spacing: .02em; }
h1 { display: flex; align-items: center; gap: .7rem; font-size: 2.3rem; line-height: 1.2; font-weight: 650; letter-spacing: -.02em; margin: .1rem 0 .1rem; }
h1 .shape { width: 1.6rem; height: 1.6rem; flex: none; }
.url { font-size: 1rem; }
.bar { display: block; width: 100%; height: 8px; margin: 1.1rem 0 .6rem; background: var(--line); }
.numbers em { color: var(--warn); font-style: normal; font-weight: 600; }
.caveat { margin-top: .5rem; padding-left: .7rem; border-left: 3px solid var(--warn); }
h2 { font-size: 1.15rem; font-weight: 650; letter-spacing: -.01em; margin-bottom: .6rem; }
h2 span, h3 span { color: var(--soft); font-weight: 400; font-size: .9rem; letter-spacing: 0; margin-left: .35rem; }
h3 { font-size: 1rem; font-weight: 600; }
main > section, .lead > section { margin-bottom: 2.2rem; }
.first { display: grid; gap: 2.5rem; margin-bottom: .5rem; border-top: 1px solid var(--line); padding-top: 1.5rem; }
aside { font-size: .875rem; }
aside h2 { font-size: .95rem; }
aside section { margin-bottom: 1.8rem; }
.unseen ul { list-style: none; }
.unseen li { padding: .5rem 0; border-top: 1px solid var(--line); }
.unseen li p:last-child { color: var(--soft); }
.unseen b { font-weight: 600; }
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .2rem .9rem; }
dt { color: var(--soft); }
.close, .size, .none, .label { color: var(--soft); font-size: .875rem; }
.fault { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--fail); border-radius: 4px; padding: 1rem 1.2rem 1.1rem; margin-bottom: .8rem; }
.fault h3 { font-size: 1.1rem; line-height: 1.35; }
.fault dl, .causes dl, #open dl, [data-v] dl { display: grid; grid-template-columns: 7.5rem minmax(0, 1fr); gap: .35rem 1rem; margin-top: .7rem; }
.fault dl, .causes dl { grid-template-columns: 4.5rem minmax(0, 1fr); }
.fault dt:first-child + dd { font-weight: 600; }
.fault.open { border-left-color: var(--inconclusive); }
.lead .unseen ul { columns: 2; column-gap: 2.5rem; }
.lead .unseen li { break-inside: avoid; }
.causes { list-style: none; counter-reset: cause; }
.causes > li { position: relative; padding: .9rem 0 .9rem 2.2rem; border-top: 1px solid var(--line); }
.causes > li::before { counter-increment: cause; content: counter(cause); position: absolute; left: 0; color: var(--soft); font-variant-numeric: tabular-nums; }
.causes[start] { counter-reset: cause 8; }
.members { margin-top: .4rem; list-style: none; font-size: .875rem; }
.members li { padding: .1rem 0; }
.reasons { list-style: none; }
.reasons li { padding: .45rem 0; border-top: 1px solid var(--line); }
.reasons + dl { border-top: 1px solid var(--line); padding-top: .7rem; }
.reasons .close { display: block; }
.fold { margin-top: .5rem; }
.fold > summary { color: var(--link); cursor: pointer; font-size: .875rem; }
.fold > ul { padding: .3rem 0 0 1.1rem; }
.fold > ul.members { padding-left: 0; }
pre { margin: 0; padding: .55rem .7rem; background: var(--well); border-radius: 3px; font-size: .8rem; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2; }
pre i { font-style: normal; color: var(--soft); }
pre b { font-weight: 700; }
mark { background: var(--mark); color: var(--mark-ink); box-shadow: inset 0 0 0 1px var(--mark-line); }
mark i { color: inherit; }
del { color: var(--gone); }
del i { color: inherit; }
.copy { position: relative; }
dd .copy { margin: 0; }
.copied { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .4rem; align-items: start; margin-top: .15rem; }
button, select, input { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 4px; padding: .2rem .6rem; min-height: 2rem; }
button { cursor: pointer; }
.copied button { font-size: .8rem; }
.matrix { border-collapse: collapse; width: 100%; }
.matrix th, .matrix td { text-align: left; vertical-align: top; padding: .5rem .9rem .5rem 0; border-top: 1px solid var(--line); font-weight: 400; }
.matrix thead th { border-top: 0; color: var(--soft); font-size: .85rem; vertical-align: bottom; white-space: nowrap; }
.matrix th span { display: block; color: var(--soft); font-size: .85rem; }
.matrix .number { text-align: right; font-variant-numeric: tabular-nums; padding-right: 0; padding-left: .9rem; }
.matrix td.number { font-weight: 600; }
.matrix td.zero { color: var(--soft); font-weight: 400; }
.strip { display: block; max-width: 100%; margin-top: .35rem; }
.shape { width: .65rem; height: .65rem; margin-right: .35rem; }
path, rect { fill: currentColor; fill-rule: evenodd; }
.v-fail { color: var(--fail); } .v-harness-error { color: var(--harness-error); } .v-warn { color: var(--warn); }
.v-inconclusive { color: var(--inconclusive); } .v-pass { color: var(--pass); } .v-not-applicable { color: var(--not-applicable); }
#filter { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; padding: .7rem 0; margin-bottom: 1rem; border-bottom: 1px solid var(--line); font-size: .875rem; position: sticky; top: 0; background: var(--paper); z-index: 1; }
.verdicts { display: flex; flex-wrap: wrap; gap: .35rem; }
#filter button[aria-pressed=true] { background: var(--ink); color: var(--paper); border-color: var(--ink); }
#filter b { font-weight: 600; }
#found { color: var(--soft); }
.suite { margin-bottom: 1.6rem; }
.suite h3 { padding-bottom: .35rem; }
[data-v], .quiet { border-top: 1px solid var(--line); }
.suite > :last-child { border-bottom: 1px solid var(--line); }
[data-v] > summary { display: grid; grid-template-columns: 6.6rem minmax(0, 19rem) minmax(0, 1fr); gap: 0 .9rem; padding: .3rem 0; cursor: pointer; list-style: none; }
[data-v] > summary::-webkit-details-marker { display: none; }
[data-v] > summary b { font-weight: 600; font-size: .875rem; display: flex; align-items: center; gap: .45rem; align-self: start; }
[data-v] > summary b::before { content: ""; width: .65rem; height: .65rem; flex: none; background: currentColor; }
[data-v] > summary code { line-height: 1.65; }
[data-v] > summary em { font-style: normal; font-size: .8rem; color: var(--soft); border: 1px solid var(--line); border-radius: 3px; padding: 0 .35em; margin-left: .3em; }
[data-v] > summary:hover, .quiet > summary:hover { background: var(--well); }
[data-v=fail] > summary b { color: var(--fail); } [data-v=fail] > summary b::before { clip-path: polygon(12% 0, 50% 38%, 88% 0, 100% 12%, 62% 50%, 100% 88%, 88% 100%, 50% 62%, 12% 100%, 0 88%, 38% 50%, 0 12%); }
[data-v=harness-error] > summary b { color: var(--harness-error); } [data-v=harness-error] > summary b::before { background: none; border: 2px solid; }
[data-v=warn] > summary b { color: var(--warn); } [data-v=warn] > summary b::before { clip-path: polygon(50% 0, 100% 100%, 0 100%); }
[data-v=inconclusive] > summary b { color: var(--inconclusive); } [data-v=inconclusive] > summary b::before { clip-path: polygon(evenodd, 50% 0, 100% 50%, 50% 100%, 0 50%, 50% 0, 50% 25%, 25% 50%, 50% 75%, 75% 50%, 50% 25%); }
[data-v=pass] > summary b { color: var(--pass); }
[data-v=not-applicable] > summary b { color: var(--not-applicable); } [data-v=not-applicable] > summary b::before { height: 2px; }
[data-v][open] > summary { background: var(--well); }
[data-v] > div { padding: .4rem 0 1.4rem 7.5rem; scroll-margin-top: 7rem; }
[data-v] > div:target { box-shadow: -3px 0 0 var(--link); }
[data-v] h3 { margin: 1.2rem 0 .4rem; }
.quiet > summary { padding: .35rem 0; cursor: pointer; color: var(--soft); font-size: .9rem; }
.times { list-style: none; font-size: .8rem; }
.times li { display: grid; grid-template-columns: 9rem minmax(4rem, 1fr) minmax(0, 25rem); gap: .9rem; align-items: center; padding: .1rem 0; }
.times svg { display: block; width: 100%; height: 10px; background: var(--well); }
.times li > span:last-child { color: var(--soft); }
.times .c { fill: var(--inconclusive); } .times .t { fill: var(--warn); } .times .w { fill: var(--bar); } .times .r { fill: var(--link); }
.exchange { margin-top: 1rem; }
.exchange .label b { color: var(--ink); }
.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; margin-top: .3rem; }
.pair h4 { font-size: .8rem; font-weight: 600; color: var(--soft); margin-bottom: .2rem; }
.pair .size { margin: .4rem 0 .2rem; }
.register { display: grid; grid-template-columns: minmax(0, 16rem) minmax(0, 1fr); gap: .35rem 1rem; margin-top: .6rem; font-size: .9rem; }
.register dt { font-family: var(--mono); font-size: .8rem; line-height: 1.7; scroll-margin-top: 5rem; }
@media screen and (min-width: 60rem) {
  .first { grid-template-columns: minmax(0, 1fr) 21rem; }
}
@media screen and (max-width: 60rem) {
  .pair { grid-template-columns: minmax(0, 1fr); }
  [data-v] > div { padding-left: 0; }
}
@media screen and (max-width: 44rem) {
  .lead .unseen ul { columns: 1; }
  header, main { padding-left: 1rem; padding-right: 1rem; }
  header { padding-top: 1.2rem; padding-bottom: 1rem; }
  h1 { font-size: 1.8rem; }
  .fault { padding: .8rem .9rem; }
  .fault dl, .causes dl, #open dl, [data-v] dl, .register { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .fault dd, .causes dd, #open dd, [data-v] dd, .register dd { margin-bottom: .55rem; }
  .causes > li { padding-left: 1.5rem; }
  [data-v] > summary { grid-template-columns: max-content minmax(0, 1fr); padding: .45rem 0; }
  [data-v] > summary span { grid-column: 1 / -1; }
  .matrix thead .cells { display: none; }
  .matrix, .matrix tbody { display: block; }
  .matrix thead { display: none; }
  .matrix tr { display: flex; flex-wrap: wrap; gap: .3rem 1rem; padding: .7rem 0; border-top: 1px solid var(--line); }
  .matrix th, .matrix td { border: 0; padding: 0; }
  .matrix th, .matrix .cells { flex: 0 0 100%; }
  .matrix td.number { padding: 0; text-align: left; }
  .matrix td.zero { display: none; }
  .matrix td.number::after { content: " " attr(data-w); font-weight: 400; }
  .times li { grid-template-columns: minmax(0, 1fr) 40%; gap: 0 .6rem; padding: .3rem 0; }
  .times li > span:last-child { grid-column: 1 / -1; }
  #filter { position: static; }
  .words, .words input { flex: 1 1 100%; width: 100%; }
  button { min-height: 2.4rem; }
}
@media print {
  :root { color-scheme: light; --paper: #fff; --card: #fff; --well: #f4f4f4; --ink: #000; --soft: #444; --line: #bbb; --link: #000; --fail: #9a1c15; --harness-error: #7c1550; --warn: #6b4300; --inconclusive: #463793; --pass: #0f5a2e; --not-applicable: #555; --mark: #ffe9a8; --mark-ink: #000; --gone: #8c1d18; --bar: #bbb; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 10pt; }
  header, main { max-width: none; padding-left: 0; padding-right: 0; }
  #filter, .copied button, .screen, .again .exchange, .again .times, .again h3, [data-v] .fold { display: none !important; }
  .copied { display: block; }
  .first { display: block; }
  .strip { max-width: none; }
  .fault dl, .causes dl, #open dl, [data-v] dl { gap: .1rem .8rem; margin-top: .3rem; }
  [data-v] > div { padding-bottom: .8rem; }
  a { text-decoration: none; }
  h2, h3, h4, [data-v] > summary, .label { break-after: avoid; }
  .fault, .causes > li, .reasons li, .unseen li, .matrix tr, .times, .exchange .pair > section > pre:first-of-type { break-inside: avoid; }
  [data-v] > div { padding-left: 0; }
  [data-v]:not([data-v=pass], [data-v=not-applicable])::details-content, .fold::details-content { content-visibility: visible; block-size: auto; display: block; }
  #checks { break-before: page; }
  pre { font-size: 7.5pt; }
}
`;
