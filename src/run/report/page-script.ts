/**
 * The scripts of the page: Chart.js, and our own, which draws the histogram from the table on the page
 * in the colours of the style sheet, and redraws it for dark, light and paper. Without it the table
 * stays.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export const PAGE_SCRIPT = `'use strict';
(function () {
  var figure = document.querySelector('.histogram');
  if (!figure || typeof Chart === 'undefined') return;
  var box = figure.querySelector('.canvas-box');
  var rows = Array.prototype.slice.call(figure.querySelectorAll('tbody tr'));
  var tiers = rows.map(function (row) { return row.dataset.tier; });
  var counts = rows.map(function (row) { return Number(row.dataset.count); });
  var ranges = rows.map(function (row) { return row.cells[0].textContent; });
  var chart = null;
  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  }
  function paint() {
    var data = chart.data.datasets[0];
    data.backgroundColor = tiers.map(color);
    var scales = chart.options.scales;
    scales.x.ticks.color = scales.y.ticks.color = scales.x.title.color = scales.y.title.color = color('muted');
    scales.y.grid.color = color('line');
    scales.x.border.color = color('line');
    chart.update('none');
  }
  box.hidden = false;
  figure.querySelector('details').open = false;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  chart = new Chart(box.querySelector('canvas'), {
    type: 'bar',
    data: {
      labels: ranges,
      datasets: [{ data: counts, minBarLength: 0, borderRadius: 3, barPercentage: 1, categoryPercentage: 0.9 }]
    },
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      plugins: {
        legend: { display: false },
        tooltip: {
          displayColors: false,
          callbacks: {
            title: function (items) { return 'Score ' + items[0].label; },
            label: function (item) { return item.parsed.y + (item.parsed.y === 1 ? ' brand' : ' brands'); }
          }
        }
      },
      scales: {
        x: {
          border: {},
          grid: { display: false },
          title: { display: true, text: 'quality score' },
          ticks: {
            autoSkip: false,
            maxRotation: 0,
            callback: function (value) {
              var third = rows.length / 3;
              if (value % third !== Math.floor(third / 2)) return '';
              var at = Math.floor(value / third);
              return [tiers[value], ['0 to 0.33', '0.33 to 0.67', '0.67 to 1'][at]];
            }
          }
        },
        y: {
          beginAtZero: true,
          border: { display: false },
          grid: {},
          title: { display: true, text: 'brands' },
          ticks: { precision: 0, maxTicksLimit: 6 }
        }
      }
    }
  });
  paint();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);
  function onPaper(is) {
    document.documentElement.classList.toggle('paper', is);
    chart.resize();
    paint();
  }
  addEventListener('beforeprint', function () { onPaper(true); });
  addEventListener('afterprint', function () { onPaper(false); });
})();
`;

const require = createRequire(import.meta.url);

/** Minified, as text; it defines `Chart`. It lies beside the entry that the package gives to Node. */
export async function readChartLibrary(): Promise<string> {
  const entry = require.resolve('chart.js');
  return await readFile(join(dirname(entry), 'chart.umd.min.js'), 'utf8');
}
