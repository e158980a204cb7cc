#include "bench/html/page.hpp"

namespace culvert::load::html {

// Free of characters that XML would want escaped, so that the page is well formed as XML too.
const char* const style = R"css(:root {
  color-scheme: light dark;
  --paper: #ffffff; --card: #f6f8fa; --ink: #1f2328; --faint: #59636e; --edge: #d1d9e0;
  --good: #116329; --bad: #b4232c;
  --s0: #1f6feb; --s1: #c2590a; --s2: #1a7f46; --s3: #8250df;
  --s4: #b03a6f; --s5: #0c7c92; --s6: #7d6608; --s7: #59636e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0d1117; --card: #151b23; --ink: #e6edf3; --faint: #9198a1; --edge: #3d444d;
    --good: #57ab5a; --bad: #ff7b72;
    --s0: #58a6ff; --s1: #f0883e; --s2: #57c278; --s3: #bc8cff;
    --s4: #f778ba; --s5: #39c5cf; --s6: #d4b106; --s7: #9198a1;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 24px 16px 48px; }
h1 { font-size: 22px; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 16px; margin: 32px 0 10px; }
header p { margin: 2px 0 0; color: var(--faint); overflow-wrap: anywhere; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(130px, 1fr)); gap: 10px;
  margin: 20px 0 0; }
.tiles div { background: var(--card); border: 1px solid var(--edge); border-radius: 8px;
  padding: 10px 14px; }
.tiles dt { color: var(--faint); font-size: 13px; }
.tiles dd { margin: 0; font-size: 21px; font-weight: 600; font-variant-numeric: tabular-nums; }
.tiles small { font-size: 13px; font-weight: 400; color: var(--faint); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr));
  gap: 16px; }
figure { margin: 0; padding: 12px 12px 4px; background: var(--card); border: 1px solid var(--edge);
  border-radius: 8px; max-width: 780px; }
figcaption { font-size: 14px; color: var(--faint); }
figcaption strong { color: var(--ink); }
svg { display: block; width: 100%; height: auto; }
svg text { font-size: 12px; fill: var(--faint); font-variant-numeric: tabular-nums; }
.grid { stroke: var(--edge); stroke-width: 1; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.area { stroke: none; fill-opacity: .16; }
.outside { fill: var(--card); fill-opacity: .7; }
.key { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 16px; padding: 0; margin: 4px 0;
  font-size: 13px; }
.key li, .run { overflow-wrap: anywhere; }
.key li::before, .run::before { content: ""; display: inline-block; width: 14px; height: 4px;
  border-radius: 2px; margin-right: 6px; vertical-align: middle; background: var(--c); }
.s0 { --c: var(--s0); } .s1 { --c: var(--s1); } .s2 { --c: var(--s2); } .s3 { --c: var(--s3); }
.s4 { --c: var(--s4); } .s5 { --c: var(--s5); } .s6 { --c: var(--s6); } .s7 { --c: var(--s7); }
path.line { stroke: var(--c); } path.area { fill: var(--c); }
.wide { overflow-x: auto; border: 1px solid var(--edge); border-radius: 8px; }
.single { max-width: 480px; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 6px 12px; text-align: right; vertical-align: baseline;
  font-variant-numeric: tabular-nums; }
th[scope="row"], thead th:first-child { text-align: left; font-weight: 400; }
.setup th, .setup td { text-align: left; }
thead th { background: var(--card); font-weight: 600; }
tbody tr { border-top: 1px solid var(--edge); }
td small, th small { color: var(--faint); font-size: 13px; }
.ratio { display: inline-block; margin-left: 8px; min-width: 7.5em; text-align: left; }
small.better { color: var(--good); } small.worse, .worse { color: var(--bad); }
code { font: 13px/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  overflow-wrap: anywhere; }
@media (max-width: 600px) {
  svg text { font-size: 17px; }
  figure { padding: 10px 8px 2px; }
  th, td { padding: 6px 8px; }
  .ratio { display: block; margin: 0; min-width: 0; text-align: inherit; }
}
@media print { figure, tbody tr { break-inside: avoid; } }
)css";

}  // namespace culvert::load::html
