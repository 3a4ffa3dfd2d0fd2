/**
 * What the dashboard's style sheet has beyond that of the report, whose colours and cards it shares.
 */

/** A square of the house's colour; inside the page, so that no browser asks for one. */
export const FAVICON =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"%3E%3Crect width="16" height="16" rx="4" fill="%2312806e"/%3E%3Cpath d="M4 11V8h2v3zm3 0V5h2v6zm3 0V7h2v4z" fill="%23fff"/%3E%3C/svg%3E';

export const DASHBOARD_STYLE = `
.top{display:flex;flex-wrap:wrap;justify-content:space-between;gap:4px 16px;margin:0 0 4px}
.top .eyebrow{margin:0}
.ways a{margin-left:14px}
.verdict.calm,.state.calm{background:var(--blank);color:var(--blank-ink)}
.banner{border-radius:8px;padding:10px 14px;margin:10px 0 0;font-size:14px;overflow-wrap:anywhere}
.banner.warn{background:var(--acceptable-soft);color:var(--acceptable-text)}
.banner.bad{background:var(--poor-soft);color:var(--poor-text)}
main>.card{margin-bottom:16px}
.empty{color:var(--muted);margin:0;overflow-wrap:anywhere}
code{overflow-wrap:anywhere}
.gauge code{white-space:nowrap}
.dot.ours,.dot.stored{background:var(--link)}
.dot.near{background:var(--acceptable)}rect.near{fill:var(--acceptable)}
.dot.over{background:var(--poor)}rect.over{fill:var(--poor)}
rect.stored{fill:var(--link)}
.dot.left{background:var(--blank)}
.big{font-size:26px}
.gauges .card{display:flex;flex-direction:column}
.gauge .canvas-room{flex:none;min-height:0;height:132px;margin-bottom:-58px}
.gauge-number{margin:0 0 14px;text-align:center}
.gauge-number strong{display:block;font-size:26px;line-height:1.2;font-weight:650;font-variant-numeric:tabular-nums}
.gauge-number span{color:var(--muted);font-size:13px}
.drawn .plain{display:none}
.plain .bar{height:12px;border-radius:6px;margin:0 0 10px}
.line-room{flex:none;min-height:0;height:152px;margin-bottom:10px}
.lead strong{font-size:19px;font-weight:650;font-variant-numeric:tabular-nums}
.reached{background:var(--acceptable-soft);color:var(--acceptable-text);border-radius:8px;padding:8px 12px}
.runs,.things,.counts{list-style:none;margin:0;padding:0}
.run,.things>li{padding:14px 0 12px;border-top:1px solid var(--line)}
.run:first-child,.things>li:first-child{border-top:0;padding-top:2px}
.run-head{display:flex;flex-wrap:wrap;align-items:baseline;gap:2px 10px;margin:0 0 4px}
.run-name{font-size:15px;font-weight:650;overflow-wrap:anywhere;min-width:0}
.run-when{color:var(--muted);font-size:13px;margin-left:auto;white-space:nowrap}
.state{border-radius:99px;padding:1px 10px;font-size:13px;font-weight:600;white-space:nowrap}
.state.good{background:var(--high-soft);color:var(--high-text)}
.state.warn{background:var(--acceptable-soft);color:var(--acceptable-text)}
.state.bad{background:var(--poor-soft);color:var(--poor-text)}
.run-far{margin:0;font-size:14px;font-variant-numeric:tabular-nums}
.run-share{font-weight:650}
.run .bar{height:10px;border-radius:5px}
.counts{display:flex;flex-wrap:wrap;gap:2px 16px;font-size:13px;font-variant-numeric:tabular-nums}
.counts .dot{margin-right:6px}
.why{font-size:14px;margin:6px 0 0;overflow-wrap:anywhere}
.run-id{margin:4px 0 0;overflow-wrap:anywhere}
.run-id code{font-size:12px}
.facts div{justify-content:flex-start;gap:12px;padding:1px 0;font-size:14px}
.facts dt{color:var(--muted);flex:none;width:62px}
.card .facts dd{text-align:left;font-weight:400;min-width:0;overflow-wrap:anywhere}
footer{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:center;gap:8px 16px}
footer .note{margin:0;min-width:0;flex:1 1 300px}
button{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:8px;padding:6px 14px;cursor:pointer}
button:hover{border-color:var(--muted)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.sign-in{max-width:420px;padding-top:12vh}
.sign-in h1{margin-bottom:16px}
.sign-in label{display:block;color:var(--muted);margin-bottom:6px}
.sign-in input[type=password]{width:100%;font:inherit;color:var(--ink);background:var(--ground);border:1px solid var(--muted);border-radius:8px;padding:9px 12px}
.sign-in button{margin-top:14px;width:100%;padding:9px;background:var(--ink);color:var(--card);border-color:var(--ink);font-weight:600}
@media (max-width:600px){
.gauge .canvas-room{min-height:0}
.run-when{margin-left:0;flex-basis:100%}
.facts dt{width:48px}
}
`;
