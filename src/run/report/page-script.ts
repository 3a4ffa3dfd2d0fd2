/** Chart.js and our script, which draws the histogram from its table; without them that stays. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** For report and dashboard scripts: a colour of the style sheet, and options of all charts. */
export const CHART_SCRIPT = `
  const root = document.documentElement;
  const color = (name) => getComputedStyle(root).getPropertyValue('--' + name).trim();
  const options = (more) => Object.assign({ animation: false, responsive: true, maintainAspectRatio: false }, more);
`;

export const PAGE_SCRIPT = `'use strict';
(() => {${CHART_SCRIPT}
  const figure = document.querySelector('.histogram');
  if (!figure || typeof Chart === 'undefined') return;
  const box = figure.querySelector('.canvas-box');
  const rows = [...figure.querySelectorAll('tbody tr')];
  const tiers = rows.map((row) => row.dataset.tier);
  const third = rows.length / 3;
  const tick = (bin) => bin % third === Math.floor(third / 2)
    ? [tiers[bin], ['0 to 0.33', '0.33 to 0.67', '0.67 to 1'][Math.floor(bin / third)]]
    : '';
  const title = (text) => ({ display: true, text });
  const brandsOf = (item) => item.parsed.y + (item.parsed.y === 1 ? ' brand' : ' brands');
  box.hidden = false;
  figure.querySelector('details').open = false;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  const chart = new Chart(box.querySelector('canvas'), {
    type: 'bar',
    data: {
      labels: rows.map((row) => row.cells[0].textContent),
      datasets: [{
        data: rows.map((row) => Number(row.dataset.count)),
        minBarLength: 0, borderRadius: 3, barPercentage: 1, categoryPercentage: 0.9
      }]
    },
    options: options({
      plugins: {
        legend: { display: false },
        tooltip: { displayColors: false, callbacks: { title: ([item]) => 'Score ' + item.label, label: brandsOf } }
      },
      scales: {
        x: { border: {}, grid: { display: false }, title: title('quality score'), ticks: { autoSkip: false, maxRotation: 0, callback: tick } },
        y: { beginAtZero: true, border: { display: false }, grid: {}, title: title('brands'), ticks: { precision: 0, maxTicksLimit: 6 } }
      }
    })
  });
  function paint() {
    chart.data.datasets[0].backgroundColor = tiers.map(color);
    const { x, y } = chart.options.scales;
    x.ticks.color = y.ticks.color = x.title.color = y.title.color = color('muted');
    y.grid.color = x.border.color = color('line');
    chart.update('none');
  }
  function onPaper(is) {
    root.classList.toggle('paper', is);
    chart.resize();
    paint();
  }
  paint();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
  addEventListener('beforeprint', () => onPaper(true));
  addEventListener('afterprint', () => onPaper(false));
})();
`;

const require = createRequire(import.meta.url);

/** Minified text that defines `Chart`. It is beside the entry that the package gives to Node. */
export async function readChartLibrary(): Promise<string> {
  const entry = require.resolve('chart.js');
  return await readFile(join(dirname(entry), 'chart.umd.min.js'), 'utf8');
}
