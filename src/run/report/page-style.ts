/** The style sheet of the report and the dashboard: light and dark, desk and phone, and paper. */

const LIGHT =
  '--ground:#f5f6f8;--card:#fff;--ink:#1a1d23;--muted:#5a6372;--line:#e1e4e9;--link:#1d5fbf;' +
  '--high:#12806e;--acceptable:#c98a12;--poor:#c4453c;--unscored:#98a1b0;' +
  '--matched:#12806e;--not_found:#6d86ad;--failed:#c4453c;--invalid:#d2782a;--skipped:#98a1b0;--deferred:#7c66c2;' +
  '--high-text:#0c6355;--acceptable-text:#7d5300;--poor-text:#a12f27;' +
  '--high-soft:#dff2ee;--acceptable-soft:#fbefd4;--poor-soft:#fae3e1;--flight:#93b5e3;--blank:#e1e4e9;--blank-ink:#3c4452';
const DARK =
  '--ground:#121418;--card:#1b1e24;--ink:#e7e9ed;--muted:#a2aab8;--line:#323843;--link:#86b4f5;' +
  '--high:#3fb79f;--acceptable:#dfae45;--poor:#ee766c;--unscored:#7d8696;' +
  '--matched:#3fb79f;--not_found:#86a0c8;--failed:#ee766c;--invalid:#e5985a;--skipped:#7d8696;--deferred:#a594e6;' +
  '--high-text:#7fdcc8;--acceptable-text:#f0cb7c;--poor-text:#f7a49d;' +
  '--high-soft:#17332e;--acceptable-soft:#382d14;--poor-soft:#3b1f1d;--flight:#4f6c94;--blank:#39404c;--blank-ink:#d5dae3';

/** Colours of dots and bars; where a name stands alone, the variable is called like it. */
const FILLS = [
  ...'matched not_found failed invalid skipped deferred high acceptable poor unscored'.split(' '),
  ...['ours:link', 'stored:link', 'theirs:deferred', 'over:poor', 'left:blank'],
  ...['overage:acceptable', 'flight', 'overage-left:acceptable-soft'],
]
  .map((tone) => {
    const [name, color = name] = tone.split(':');
    return `.dot.${name}{background:var(--${color})}rect.${name}{fill:var(--${color})}`;
  })
  .join('\n');

/** For the report and the dashboard. */
export const STYLE = `:root{color-scheme:light dark;${LIGHT}}
@media (prefers-color-scheme:dark){:root{${DARK}}}
:root.paper{color-scheme:light;${LIGHT}}
*{box-sizing:border-box}
[hidden]{display:none!important}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main,header,footer{max-width:1120px;margin:0 auto;padding:0 24px}
header{padding-top:32px}
h1{font-size:22px;line-height:1.3;margin:0;font-weight:650;overflow-wrap:anywhere}
h2{font-size:15px;margin:0 0 12px;font-weight:650}
h3{font-size:14px;margin:16px 0 6px;font-weight:650}
p{margin:0 0 8px}
a{color:var(--link)}
code{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
bdi{overflow-wrap:anywhere}
.title{display:flex;flex-wrap:wrap;gap:8px 12px;align-items:center}
.eyebrow{color:var(--muted);margin:0 0 4px}
.verdict{border-radius:99px;padding:2px 12px;font-weight:600;font-size:13px}
.good,.score.high{background:var(--high-soft);color:var(--high-text)}
.warn,.score.acceptable,.warning,.reached{background:var(--acceptable-soft);color:var(--acceptable-text)}
.bad,.score.poor{background:var(--poor-soft);color:var(--poor-text)}
.calm{background:var(--blank);color:var(--blank-ink)}
.headline{font-size:19px;line-height:1.4;margin:12px 0 4px;max-width:50em}
.next,.muted{color:var(--muted)}
.next{max-width:60em}
.note{color:var(--muted);font-size:13px;margin:12px 0 0;padding-left:0}
ul.note{margin:4px 0 0;padding-left:18px}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.key{display:grid;grid-template-columns:repeat(auto-fit,minmax(132px,1fr));gap:16px;margin:20px 0 16px;padding:0}
.key div,.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:18px 20px;min-width:0}
.key div{display:block;padding:14px 18px}
.key dd{margin:0;text-align:left;font-size:26px;line-height:1.25;font-weight:650;font-variant-numeric:tabular-nums}
.key .below{display:block;font-size:13px;font-weight:400;color:var(--muted)}
.tone-good dd{color:var(--high-text)}
.tone-warn dd{color:var(--acceptable-text)}
.tone-bad dd{color:var(--poor-text)}
.pair,.trio{display:grid;gap:16px;margin-bottom:16px}
.pair{grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr))}
.trio{grid-template-columns:repeat(auto-fit,minmax(min(100%,290px),1fr))}
.pair>.card:last-child:nth-child(odd){grid-column:1/-1}
table{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums}
th{text-align:left;font-weight:600}
thead th{color:var(--muted);font-weight:400;font-size:13px;padding:0 0 6px}
td,tbody th,tfoot th{padding:8px 0;border-top:1px solid var(--line);vertical-align:top}
.number{text-align:right;white-space:nowrap;padding-left:16px}
.share{color:var(--muted);min-width:62px}
.outcomes a{display:inline-block;min-width:24px;min-height:24px}
.outcomes .none th,.outcomes .none td{color:var(--muted);font-weight:400}
.rows{margin-top:16px}
.listed{margin-top:8px;font-size:14px}
.listed td{padding:5px 16px 5px 0;overflow-wrap:anywhere}
.listed .line{text-align:right;width:1%;white-space:nowrap;color:var(--muted)}
.listed .line+*{width:42%}
.listed th{padding-right:16px}
.meaning{display:block;font-weight:400;font-size:13px;color:var(--muted)}
.dot{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:8px;vertical-align:baseline}
.none .dot{opacity:.45}
${FILLS}
.bar{display:block;width:100%;height:8px;border-radius:4px;background:var(--line);margin:6px 0 4px}
.scores{display:flex;flex-direction:column}
.histogram{margin:0;flex:1;display:flex;flex-direction:column}
.canvas-box{position:relative;flex:1;min-height:250px}
.canvas-box canvas{position:absolute;max-width:100%}
details{margin-top:8px}
summary{cursor:pointer;color:var(--muted);font-size:13px;padding:4px 0}
.bins{font-size:13px;margin-top:8px}
.bins th,.bins td{padding:2px 0;border:0;font-weight:400;white-space:nowrap}
.bins td{width:100%;padding-left:12px}
.bin{width:70%;height:10px;margin-right:8px}
.tiers{list-style:none;margin:12px 0 0;padding:0}
.tiers li{display:flex;align-items:baseline;gap:0 6px;padding:4px 0}
.tiers .dot{margin-right:2px}
.tier-name{font-weight:600}
.tier-count{margin-left:auto;font-variant-numeric:tabular-nums}
.tier-count .muted{display:inline-block;min-width:46px;text-align:right}
.brands li{display:flex;align-items:center;gap:12px;padding:7px 0;border-top:1px solid var(--line)}
.brands li:first-child{border-top:0}
.badge{flex:none;border-radius:9px;display:block;outline:1px solid rgb(128 128 128/.25);outline-offset:-1px}
.badge text{font-size:15px;font-weight:650}
img.badge{background:#fff;object-fit:contain;padding:4px}
.blank{fill:var(--blank)}
.blank-ink{fill:var(--blank-ink)}
.brand{min-width:0;flex:1}
.brand-name,.brand-domain{display:block;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.brand-name{font-weight:600}
.brand-domain,.key dt{color:var(--muted);font-size:13px}
.swatch{color:var(--muted);font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;display:flex;align-items:center;gap:5px}
.swatch rect{stroke:rgb(128 128 128/.4);stroke-width:.6}
.score{flex:none;border-radius:99px;padding:1px 10px;font-weight:600;font-variant-numeric:tabular-nums;min-width:62px;text-align:center}
dl{margin:0}
dl div{display:flex;justify-content:space-between;gap:16px;padding:5px 0}
dd{margin:0;text-align:right;font-variant-numeric:tabular-nums}
.card dd{font-weight:600}
.card .saved dd{color:var(--high-text)}
dl.files div{display:grid;grid-template-columns:160px 1fr;gap:2px 16px}
dl.files dt{color:var(--muted)}
dl.files dd{text-align:left;font-weight:400;min-width:0}
.warning{border-radius:8px;padding:10px 12px;margin:12px 0 0;font-size:14px}
footer{color:var(--muted);font-size:13px;padding-top:4px;padding-bottom:32px;overflow-wrap:anywhere}
.top{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:4px 16px;margin:0 0 4px}
.top .eyebrow{margin:0}
.ways a{margin-left:14px}
.ways a,.answers a,.history a,.run-name a,.doings a,.things a,.card dd a,.headline a,.sign-in a{display:inline-block;padding:3px 0;min-height:24px}
.banner{border-radius:8px;padding:10px 14px;margin:10px 0 0;font-size:14px;overflow-wrap:anywhere}
main>.card[data-part],main>[data-empty]{margin-bottom:16px}
main>.card+.card,header+main>.card:first-child{margin-top:16px}
.empty{color:var(--muted);margin:0;overflow-wrap:anywhere}
.account-bar{display:block;overflow:visible;margin:2px 0 8px}
.account-bar text{font-size:12px;fill:var(--muted);font-variant-numeric:tabular-nums}
.account-bar .track{fill:var(--ground)}
.account-bar .mark{fill:var(--ink)}
.account-bar .overage-left{stroke:var(--acceptable)}
.dot.overage-left{box-shadow:inset 0 0 0 1px var(--acceptable)}
.dot.left{box-shadow:inset 0 0 0 1px var(--unscored)}
.board,.aside{display:grid;gap:16px;align-content:start;min-width:0}
.board{margin:20px 0 16px}
.board .key,.board .pair{margin:0;align-content:start}
.aside .key{grid-template-columns:1fr 1fr}
.aside .key div:last-child:nth-child(odd){grid-column:1/-1}
.aside dt,.aside .note code{white-space:nowrap}
.aside dd .muted{font-weight:400;font-size:13px}
@media (min-width:960px){
.board{grid-template:auto 1fr/minmax(0,1fr) 420px}
.aside{grid-row:1/3;grid-column:2}
}
.line-box{flex:none;min-height:0;height:152px;margin-bottom:10px}
.lead strong{font-size:19px;font-weight:650;font-variant-numeric:tabular-nums}
.reached{border-radius:8px;padding:8px 12px}
.brands,.runs,.things,.counts,.workers{list-style:none;margin:0;padding:0}
.run,.things>li{padding:14px 0 12px;border-top:1px solid var(--line)}
.run:first-child,.things>li:first-child{border-top:0;padding-top:2px}
.run-head{display:flex;flex-wrap:wrap;align-items:baseline;gap:2px 10px;margin:0 0 4px}
.run-name{font-size:15px;font-weight:650;overflow-wrap:anywhere;min-width:0}
.run-when{color:var(--muted);font-size:13px;margin-left:auto;white-space:nowrap}
.state{border-radius:99px;padding:1px 10px;font-size:13px;font-weight:600;white-space:nowrap}
.run-far{margin:0;font-size:14px;font-variant-numeric:tabular-nums}
.run-share{font-weight:650}
.run .bar{height:10px;border-radius:5px}
.counts{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:13px;font-variant-numeric:tabular-nums}
.counts .dot{margin-right:6px}
.workers{font-size:14px}
.why{font-size:14px;margin:6px 0 0;overflow-wrap:anywhere}
.run-id{margin:4px 0 0;overflow-wrap:anywhere}
.run-id code{font-size:12px}
.facts div{justify-content:flex-start;gap:12px;padding:1px 0;font-size:14px}
.facts dt{color:var(--muted);flex:none;width:62px}
.card .facts dd{text-align:left;font-weight:400;min-width:0;overflow-wrap:anywhere}
.foot{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:center;gap:8px 16px}
.foot .note{margin:0;min-width:0;flex:1 1 300px}
button{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:8px;padding:6px 14px;cursor:pointer}
button:hover{border-color:var(--muted)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.sign-in{max-width:420px;padding-top:12vh}
.sign-in h1{margin-bottom:16px}
.sign-in label{display:block;color:var(--muted);margin:10px 0 6px}
.sign-in input:is([type=password],[type=text]){width:100%;font:inherit;color:var(--ink);background:var(--ground);border:1px solid var(--muted);border-radius:8px;padding:9px 12px}
.leave button{margin-left:6px}
.answers{text-align:center}
.action{display:inline}
.choices label{display:block;color:var(--muted);margin:10px 0 4px}
.choices p{margin:10px 0 0}
.choices p label{display:inline}
.choices :is(select,input:is([type=file],[type=number])){max-width:100%;font:inherit;color:var(--ink);background:var(--ground);border:1px solid var(--muted);border-radius:8px;padding:6px 10px}
.choices button{margin:10px 10px 0 0}
.choices [type=checkbox]{width:24px;height:24px;margin:0 4px 0 0;vertical-align:middle}
.choices>a,.tall{display:inline-block;padding:2px 0;min-height:24px}
.choices progress{display:block;width:100%;margin-top:12px;accent-color:var(--link)}
.dropping{outline:4px dashed var(--link);outline-offset:-8px}
.dropping main{opacity:.5}
.values-of{min-width:110px;padding-right:12px}
.values{list-style:none;margin:0;padding:0;overflow-wrap:anywhere}
.card.alone{margin:16px 0}
.ends{display:flex;flex-wrap:wrap;gap:8px 12px;margin:16px 0}
.ends form:not(:only-child):first-child button{background:var(--ink);color:var(--card);border-color:var(--ink);font-weight:600}
.doings{display:flex;flex-wrap:wrap;align-items:center;gap:8px 10px;margin:10px 0 0;font-size:14px}
.doings:empty{display:none}
.doings .note{margin:0}
.reason{white-space:pre-wrap;overflow-wrap:anywhere;font-size:14px;margin:6px 0 0}
.things .action{display:block;margin-top:10px}
.history th{font-weight:400}
.history td,.history tbody th{padding:8px 8px 8px 0;font-size:14px}
.history td.number{padding:8px 0 8px 16px}
.history .meaning{overflow-wrap:anywhere}
.sign-in button{margin:14px 0 8px;width:100%;padding:9px;background:var(--ink);color:var(--card);border-color:var(--ink);font-weight:600}
@media (max-width:600px){
main,header,footer{padding-left:14px;padding-right:14px}
header{padding-top:20px}
.headline{font-size:17px}
.key{grid-template-columns:1fr 1fr;gap:10px}
.key div{padding:12px 14px}
.key div:last-child:nth-child(odd){grid-column:1/-1}
.key dd{font-size:21px}
.card{padding:16px 14px}
.swatch{display:none}
.pair,.trio{gap:12px;margin-bottom:12px}
.board,.aside{gap:12px}
dl.files div{grid-template-columns:1fr}
.canvas-box{min-height:210px}
.run-when{margin-left:0;flex-basis:100%}
.facts dt{width:48px}
}
@media print{
@page{margin:14mm 12mm}
:root{color-scheme:light;${LIGHT}}
body{background:#fff;font-size:9.5pt;line-height:1.4;print-color-adjust:exact;-webkit-print-color-adjust:exact}
main,header,footer{max-width:none;padding:0}
.headline{font-size:12.5pt;margin:6px 0 2px}
.key{margin:10px 0}
.card,.key div{break-inside:avoid;border-color:#c9ced6}
.rows{break-inside:auto;margin-top:10px}
.brands li,tr{break-inside:avoid}
h2,summary{break-after:avoid}
.rows .note,footer{break-before:avoid}
.key{grid-template-columns:repeat(3,1fr);gap:8px}
.key div{padding:8px 10px}
.pair{grid-template-columns:1fr 1fr;gap:10px;margin-bottom:10px}
.trio{grid-template-columns:repeat(3,1fr);gap:10px;margin-bottom:10px}
.card{padding:10px 12px}
h2{margin-bottom:6px}
td,tbody th,tfoot th{padding:3px 0}
.listed td{padding:2px 16px 2px 0}
.brands li{padding:4px 0}
.badge{width:28px;height:28px}
.brand-name,.brand-domain{white-space:normal}
dl div{padding:2px 0}
.swatch,.outcomes .meaning,.canvas-box+details{display:none}
.canvas-box{min-height:170px}
a{color:inherit;text-decoration:none}
}
`;
