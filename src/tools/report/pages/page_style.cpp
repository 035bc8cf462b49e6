#include "tools/report/pages/page_style.h"

namespace lockstep {

// Charts have their own colours for a light background. The rules for `svg` override them.
const char* const page_style = R"css(
:root{--back:#f6f7f9;--card:#fff;--text:#1b1f24;--soft:#5c6670;--line:#dfe3e8;--grid:#e6e9ed;--axis:#7a848e;
--accent:#0072b2;--good:#1a7f4b;--warn:#9a6200;--bad:#b3261e;--good-back:#e4f4eb;--warn-back:#fdf1da;--bad-back:#fbe6e4;
color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--back:#15181c;--card:#1d2126;--text:#e4e8ec;--soft:#9aa5b0;--line:#343a42;
--grid:#2c323a;--axis:#7f8a95;--accent:#5ab4e8;--good:#6fd39b;--warn:#f0bf5e;--bad:#ff8f86;--good-back:#17301f;
--warn-back:#33290f;--bad-back:#3a1b19}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;-webkit-text-size-adjust:100%}
main{max-width:1180px;margin:0 auto;padding:24px 20px 40px}
h1{font-size:26px;line-height:1.25;margin:0;overflow-wrap:anywhere;display:inline}
.state{display:inline-block;margin-left:10px;padding:1px 10px;border-radius:999px;font-size:13px;font-weight:600;
vertical-align:4px;background:var(--grid);color:var(--soft)}
.state.good{background:var(--good-back);color:var(--good)}
.state.warning{background:var(--warn-back);color:var(--warn)}
.state.bad{background:var(--bad-back);color:var(--bad)}
.subtitle{color:var(--soft);margin:6px 0 0;overflow-wrap:anywhere}
nav{margin:14px 0 0;font-size:14px;color:var(--soft)}
nav a{color:var(--accent);text-decoration:none;margin-right:14px;white-space:nowrap}
nav a:hover{text-decoration:underline}
section,details{margin-top:26px}
h2{font-size:18px;margin:0 0 10px}
summary{cursor:pointer}
summary h2{display:inline}
details>*:nth-child(2){margin-top:10px}
.card,.tile,.figure{background:var(--card);border:1px solid var(--line);border-radius:8px}
.card{overflow-x:auto;margin:0 0 12px}
p{margin:0 0 12px}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(164px,1fr));gap:10px;margin:0 0 12px}
.tile{padding:10px 14px;min-width:0}
.tile .name{color:var(--soft);font-size:13px}
.tile .value{font-size:20px;font-weight:600;line-height:1.3;overflow-wrap:anywhere}
.tile .more{color:var(--soft);font-size:12.5px;overflow-wrap:anywhere}
ul.notes{list-style:none;padding:0;margin:0 0 12px}
ul.notes li{padding:7px 12px;border-left:4px solid var(--line);background:var(--card);margin-bottom:5px;
border-radius:0 6px 6px 0;overflow-wrap:anywhere;white-space:pre-line}
ul.notes li.good{border-color:var(--good);background:var(--good-back)}
ul.notes li.warning{border-color:var(--warn);background:var(--warn-back)}
ul.notes li.bad{border-color:var(--bad);background:var(--bad-back)}
table{border-collapse:collapse;width:100%;font-size:14px;font-variant-numeric:tabular-nums}
th,td{padding:6px 12px;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
tr:last-child td{border-bottom:0}
th{color:var(--soft);font-weight:600;font-size:13px;white-space:nowrap}
td{overflow-wrap:break-word;max-width:34em;white-space:pre-line}
.number{text-align:right;white-space:nowrap}
.left-out{color:var(--soft);font-size:13.5px;margin-top:-6px}
.figures{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:12px;margin:0 0 12px}
.figure{margin:0;padding:8px 6px 4px;overflow-x:auto;min-width:0}
.figure.wide{grid-column:1/-1}
.figure svg{display:block;width:100%;height:auto}
figcaption{color:var(--soft);font-size:13px;padding:2px 10px 6px}
svg text{fill:var(--text)}
svg rect[fill="#ffffff"]{fill:none}
svg line[stroke="#e4e4e4"]{stroke:var(--grid)}
svg [stroke="#444444"]{stroke:var(--axis)}
@media screen and (prefers-color-scheme:dark){svg [stroke="#0072b2"]{stroke:#4aa8e0}svg [fill="#0072b2"]{fill:#4aa8e0}}
pre{margin:0;padding:10px 14px;font:12.5px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap;
overflow-wrap:anywhere}
.pictures{display:grid;grid-template-columns:repeat(auto-fill,minmax(180px,1fr));gap:12px;margin:0 0 12px}
.pictures figure{margin:0;background:var(--card);border:1px solid var(--line);border-radius:8px;overflow:hidden}
.pictures img{display:block;width:100%;height:auto}
.pictures .wide{grid-column:1/-1}
.pictures figcaption{padding:5px 10px;overflow-wrap:anywhere}
footer{margin-top:30px;color:var(--soft);font-size:13px}
@media screen and (max-width:760px){main{padding:16px 12px 30px}h1{font-size:21px}.figures{grid-template-columns:minmax(0,1fr)}
.figure.wide svg{min-width:620px}.figure svg text{font-size:14px}th,td{padding:5px 8px}
.tiles{grid-template-columns:repeat(2,minmax(0,1fr))}.tile .value{font-size:17px}}
@media print{:root{--back:#fff;--card:#fff;--text:#000;--soft:#444;--line:#ccc;--grid:#e4e4e4;--axis:#444;--accent:#0072b2;
--good:#1a7f4b;--warn:#9a6200;--bad:#b3261e;--good-back:#fff;--warn-back:#fff;--bad-back:#fff;color-scheme:light}
@page{margin:14mm}
body{font-size:10.5pt}main{max-width:none;padding:0}nav,details:not([open]){display:none}table{font-size:9pt}
.tiles{grid-template-columns:repeat(4,minmax(0,1fr))}.tile .value{font-size:13pt}footer{margin-top:10px}section,details{margin-top:16px}
.figures{grid-template-columns:repeat(2,minmax(0,1fr))}
.figure,.tile,ul.notes li,tr,.pictures figure{break-inside:avoid}h2{break-after:avoid}.card,.figure{overflow:visible}}
)css";

}  // namespace lockstep
