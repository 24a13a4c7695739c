/** The look of the HTML report, in both colour schemes. */
export const htmlStyle = `
:root{color-scheme:light dark;--fg:#1c2128;--soft:#656d76;--bg:#fff;--card:#f6f8fa;--line:#d8dee4;--good:#1a7f37;--bad:#cf222e;--warn:#9a6700;--wait:#0969da}
@media(prefers-color-scheme:dark){:root{--fg:#e6edf3;--soft:#8d96a0;--bg:#0d1117;--card:#161b22;--line:#30363d;--good:#3fb950;--bad:#f85149;--warn:#d29922;--wait:#4493f8}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);margin:0 auto;max-width:70rem;padding:1.5rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem}p{color:var(--soft);margin:.2rem 0 1rem}
ol{list-style:none;margin:0;padding:0}ol ol{margin-left:1.4rem;border-left:2px solid var(--line);padding-left:.6rem}a{color:var(--bad)}
summary{display:grid;grid-template-columns:1.4rem calc(15rem - var(--depth)*2.125rem) 5rem minmax(6rem,1fr) minmax(0,1.4fr);gap:.6rem;align-items:center;cursor:pointer;padding:.3rem .4rem;border-radius:6px}
summary::marker{content:""}summary:hover{background:var(--card)}
.name{font-weight:600;overflow-wrap:anywhere}.name::after{content:" \\25b8" / "";color:var(--soft);font-weight:400}details[open] .name::after{content:" \\25be" / ""}.time{color:var(--soft);text-align:right;font-variant-numeric:tabular-nums}
.note{color:var(--soft);white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.track{position:relative;height:.7rem;background:var(--card);border-radius:4px}.bar{position:absolute;top:0;bottom:0;border-radius:4px;background:var(--soft)}
.bar.success{background:var(--good)}.bar.failure,.bar.critical{background:var(--bad)}.bar.cancelled{background:var(--warn)}.bar.waiting,.bar.running{background:var(--wait)}
.mark.success,.status.success{color:var(--good)}.mark.failure,.mark.critical,.status.failure,.status.critical{color:var(--bad)}
.mark.cancelled,.status.interrupted,.status.cancelled{color:var(--warn)}.mark.waiting,.status.waiting,.mark.running,.status.running{color:var(--wait)}.mark{font-weight:700;text-align:center}
dl{display:grid;grid-template-columns:7rem 1fr;gap:.1rem 1rem;margin:.3rem 0 .3rem 2.4rem}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere;white-space:pre-wrap}
.errors{margin:.3rem 0 .3rem 2.4rem;padding-left:1rem;list-style:disc}pre{margin:.3rem 0 .8rem 2.4rem;padding:.7rem;background:var(--card);border:1px solid var(--line);border-radius:6px;display:flex;flex-direction:column-reverse;overflow:auto;max-height:28rem;white-space:pre-wrap;overflow-wrap:anywhere}
@media(max-width:46rem){body{padding:1rem}ol ol{margin-left:.5rem}summary{grid-template-columns:1.4rem 1fr 5rem;row-gap:.2rem}.track,.note{grid-column:2/-1}.note{white-space:normal;overflow-wrap:anywhere}.track:empty{display:none}dl{grid-template-columns:5rem 1fr;margin-left:0}pre,.errors{margin-left:0}}
@media print{body{max-width:none;padding:0}pre{max-height:none;display:block}.track,.bar{print-color-adjust:exact}.note{white-space:normal}li{break-inside:avoid-page}li:has(li,pre){break-inside:auto}}
`
