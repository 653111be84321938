#include "attune/report/style.h"

namespace attune::report {

std::string_view plot_style() {
  return R"css(
:root{--ink:#1b2430;--soft:#586273;--faint:#8b94a3;--rule:#dfe3ea;--paper:#ffffff;--panel:#f6f7f9;--accent:#0b5fa5;--on-accent:#ffffff;
--good:#0a7a55;--warn:#9a5b00;--bad:#b3261e;--good-bg:#e8f5ef;--warn-bg:#fdf3e1;--bad-bg:#fdecea;--note-bg:#eaf2fa;
--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#b0629a;--s4:#3a9fd8;--s5:#c58500;--s6:#6b7280;--s7:#7a4fbf}
@media (prefers-color-scheme:dark){:root{--ink:#e8ebf0;--soft:#a7b0be;--faint:#7b8594;--rule:#333b47;--paper:#14181e;--panel:#1c222a;--accent:#4ea3e0;
--on-accent:#0d1117;--good:#4cc79a;--warn:#f0b655;--bad:#ff8a80;--good-bg:#12291f;--warn-bg:#2e2412;--bad-bg:#331a18;--note-bg:#14263a;
--s0:#4ea8e0;--s1:#ff8f4f;--s2:#3fcf9f;--s3:#e29fca;--s4:#8fd3f7;--s5:#f3c14f;--s6:#a3acb9;--s7:#b79af0}}
@media print{:root{--ink:#000;--soft:#333;--faint:#666;--rule:#bbb;--paper:#fff;--panel:#fff;--accent:#0b5fa5;--on-accent:#fff;
--good:#0a7a55;--warn:#9a5b00;--bad:#b3261e;--good-bg:#fff;--warn-bg:#fff;--bad-bg:#fff;--note-bg:#fff;
--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#b0629a;--s4:#3a9fd8;--s5:#c58500;--s6:#6b7280;--s7:#7a4fbf}}
.plot{display:block;max-width:100%;height:auto;font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Noto Sans","Liberation Sans",sans-serif}
.plot text{fill:var(--ink);font-size:12px}
.plot .title{font-size:14px;font-weight:600}
.plot .label{font-size:12px;fill:var(--soft)}
.plot .tick{font-size:11px;fill:var(--soft);font-variant-numeric:tabular-nums}
.plot .value{font-size:11px;font-variant-numeric:tabular-nums}
.plot .small{font-size:10px;fill:var(--soft)}
.plot .strong{font-weight:600}
.plot .halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
.plot .grid{stroke:var(--rule);stroke-width:1}
.plot .axis{stroke:var(--faint);stroke-width:1}
.plot .c0{--c:var(--s0)}.plot .c1{--c:var(--s1)}.plot .c2{--c:var(--s2)}.plot .c3{--c:var(--s3)}
.plot .c4{--c:var(--s4)}.plot .c5{--c:var(--s5)}.plot .c6{--c:var(--s6)}.plot .c7{--c:var(--s7)}
.plot .line{stroke:var(--c);stroke-width:2.2;fill:none;stroke-linejoin:round;stroke-linecap:round}
.plot .thin{stroke:var(--c);stroke-width:1;fill:none}
.plot .ghost{stroke:var(--c);stroke-width:1;fill:none;stroke-opacity:.4}
.plot .dash{stroke-dasharray:7 4}.plot .dot{stroke-dasharray:2 4}.plot .dashdot{stroke-dasharray:9 4 2 4}
.plot .fill{fill:var(--c);stroke:var(--paper);stroke-width:1}
.plot .bar{fill:var(--c);fill-opacity:.8}
.plot .band{fill:var(--c);fill-opacity:.14;stroke:none}
.plot .gap{fill:var(--s1);fill-opacity:.3;stroke:var(--s1);stroke-width:1}
.plot text.ctext{fill:var(--c);font-weight:600}
.plot .reference{stroke:var(--soft);stroke-width:1.3;stroke-dasharray:5 4;fill:none}
.plot .shade{fill:var(--accent)}
.plot .wrong{fill:var(--s1)}
.plot .cell{stroke:var(--rule);stroke-width:1;fill:none}
.plot .stripe{fill:var(--panel)}
.plot text.on{fill:var(--on-accent)}
.plot .ring{fill:var(--paper);stroke:var(--ink);stroke-width:2}
)css";
}

std::string_view page_style() {
  return R"css(
:root{color-scheme:light dark}
*{box-sizing:border-box}
html{scroll-behavior:smooth}
body{margin:0;background:var(--paper);color:var(--ink);line-height:1.55;font-size:16px;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Noto Sans","Liberation Sans",sans-serif}
.sheet{max-width:1080px;margin:0 auto;padding:36px 24px 80px}
header h1{font-size:30px;line-height:1.2;margin:0 0 6px;letter-spacing:-.01em}
header .subtitle{color:var(--soft);margin:0 0 22px;font-size:17px;max-width:70ch}
h2{font-size:22px;margin:52px 0 6px;padding-top:14px;border-top:1px solid var(--rule);letter-spacing:-.005em}
h3{font-size:16px;margin:26px 0 6px}
h2 a,h3 a{color:inherit;text-decoration:none}
h2 a:hover::after{content:" #";color:var(--faint)}
p,ul,ol{max-width:76ch;margin:8px 0 12px}
li{margin:3px 0}
.lead{color:var(--soft);margin-top:0}
a{color:var(--accent)}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;font-size:.88em;background:var(--panel);padding:.1em .35em;border-radius:4px}
pre{background:var(--panel);border:1px solid var(--rule);border-radius:8px;padding:12px 14px;overflow-x:auto;font-size:13.5px;line-height:1.5;margin:8px 0 14px}
pre code{background:none;padding:0;font-size:inherit}
nav{display:flex;flex-wrap:wrap;gap:6px 8px;margin:22px 0 0;font-size:14px}
nav a{text-decoration:none;border:1px solid var(--rule);border-radius:999px;padding:3px 12px;color:var(--soft)}
nav a:hover{color:var(--accent);border-color:var(--accent)}
.verdict{border-left:6px solid var(--v);background:var(--vb);border-radius:8px;padding:16px 20px;margin:0 0 18px}
.verdict .word{display:block;font-weight:700;color:var(--v);font-size:13px;letter-spacing:.06em;text-transform:uppercase}
.verdict .headline{font-size:21px;font-weight:650;line-height:1.35;margin:3px 0 6px;max-width:62ch}
.verdict p{margin:5px 0;max-width:92ch}
.good{--v:var(--good);--vb:var(--good-bg)}.warn{--v:var(--warn);--vb:var(--warn-bg)}.bad{--v:var(--bad);--vb:var(--bad-bg)}.note{--v:var(--accent);--vb:var(--note-bg)}
.notice{border-left:4px solid var(--v);background:var(--vb);border-radius:6px;padding:8px 14px;margin:12px 0;max-width:84ch}
.notice p{margin:4px 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(180px,1fr));gap:12px;margin:16px 0}
.card{border:1px solid var(--rule);border-radius:10px;padding:12px 16px;background:var(--panel)}
.card .name{font-size:13px;color:var(--soft);line-height:1.35}
.card .figure{font-size:27px;font-weight:650;line-height:1.25;font-variant-numeric:tabular-nums;letter-spacing:-.01em}
.card .detail{font-size:13px;color:var(--soft);line-height:1.4}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,430px),1fr));gap:6px 24px;align-items:start}
figure{margin:14px 0 18px}
figure .plot{width:auto}
figcaption{font-size:14px;color:var(--soft);max-width:76ch;margin-top:4px}
.scroll{overflow-x:auto;margin:10px 0 16px}
table{border-collapse:collapse;font-size:14.5px;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:0 0 6px;font-size:14.5px}
th,td{padding:6px 14px 6px 0;border-bottom:1px solid var(--rule);vertical-align:top;text-align:left}
th{font-weight:600;color:var(--soft);font-size:13px;border-bottom:1.5px solid var(--faint);vertical-align:bottom}
td.r,th.r{text-align:right}
td.r{white-space:nowrap}
th:not(:first-child),td:not(:first-child){padding-left:10px}
tr.emphasis td{font-weight:650;background:var(--panel)}
details{border:1px solid var(--rule);border-radius:8px;margin:7px 0;background:var(--paper)}
details>summary{cursor:pointer;padding:7px 14px;font-weight:500;line-height:1.45}
details>summary:hover{color:var(--accent)}
details[open]>summary{border-bottom:1px solid var(--rule)}
details>.inside{padding:8px 16px 12px}
.tag{display:inline-block;border-radius:999px;padding:0 9px;font-size:12.5px;font-weight:600;border:1px solid var(--v);color:var(--v);background:var(--vb);white-space:nowrap}
.document{white-space:pre-wrap;overflow-wrap:anywhere;font-size:13.5px;line-height:1.5;background:var(--panel);border-radius:6px;padding:10px 14px;max-height:26em;overflow-y:auto;margin:8px 0}
footer{margin-top:56px;padding-top:12px;border-top:1px solid var(--rule);color:var(--soft);font-size:13px}
@media print{body{font-size:11pt}.sheet{max-width:none;padding:0}nav{display:none}figure,.card,.verdict,.notice,tr{break-inside:avoid}h2,h3{break-after:avoid}
.document{max-height:none;overflow:visible}details::details-content{content-visibility:visible;block-size:auto}a{color:inherit;text-decoration:none}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
@media (max-width:600px){.sheet{padding:20px 14px 48px}header h1{font-size:24px}.verdict .headline{font-size:18px}}
)css";
}

std::string standalone_svg(std::string_view svg) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  const std::size_t behind_tag = svg.find('>') + 1;
  out += svg.substr(0, behind_tag);
  out += "\n<style>";
  out += plot_style();
  out += "</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>";
  out += svg.substr(behind_tag);
  return out;
}

}  // namespace attune::report
