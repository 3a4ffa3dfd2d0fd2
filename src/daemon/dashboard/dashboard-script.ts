/** Renews changed parts and draws charts from the page. Without it the whole page reloads. */
import { CHART_SCRIPT } from '../../run/report/page-script.js';

export const DASHBOARD_SCRIPT = `'use strict';
(() => {${CHART_SCRIPT}
  const TONES = { ours: 'link', theirs: 'unscored', left: 'line', near: 'acceptable', over: 'poor' };
  const PARTS = document.querySelector('meta[name=parts]').content;
  const charts = {};
  let heardAt = Date.now();
  let isAsking = false;

  const part = (name) => document.querySelector('[data-part="' + name + '"]');

  // A part's data for its chart, which is made at its first use; null where there is none to draw.
  function chartOf(name, attribute, type, more) {
    const place = document.querySelector('[data-for="' + name + '"]');
    if (!place) return null;
    const text = part(name)?.dataset[attribute];
    place.hidden = !text;
    if (!text) return null;
    charts[name] ??= new Chart(place.querySelector('canvas'), {
      type,
      data: { datasets: [{ data: [], borderWidth: 0 }] },
      options: options({ events: [], plugins: { legend: { display: false }, tooltip: { enabled: false } }, ...more })
    });
    return { chart: charts[name], data: JSON.parse(text) };
  }

  function drawGauge(name) {
    const found = chartOf(name, 'gauge', 'doughnut', { circumference: 180, rotation: -90, cutout: '74%' });
    if (!found) return;
    const slices = found.data.some(([, size]) => size > 0) ? found.data : [['left', 1]];
    const [set] = found.chart.data.datasets;
    set.data = slices.map(([, size]) => size);
    set.backgroundColor = slices.map(([tone]) => color(TONES[tone]));
    found.chart.update('none');
  }

  const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

  function drawLine() {
    const font = { size: 12 };
    const found = chartOf('projection', 'line', 'line', {
      scales: {
        x: { type: 'linear', min: 0, grid: { display: false }, border: {}, ticks: { maxRotation: 0, font } },
        y: { beginAtZero: true, grace: '8%', border: { display: false }, grid: {}, ticks: { maxTicksLimit: 4, precision: 0, font } }
      }
    });
    if (!found) return;
    const { chart, data: line } = found;
    const set = (points, tone, more) => ({
      data: points.map(([x, y]) => ({ x, y })), borderColor: color(tone), backgroundColor: color(tone), borderWidth: 2, pointRadius: 0, ...more
    });
    chart.data.datasets = [
      set([[0, 0], [line.gone, line.used]], 'link', { borderWidth: 3 }),
      set([[line.gone, line.used], [line.days, line.projected]], 'link', { borderDash: [5, 5] }),
      set(line.limit === null ? [] : [[0, line.limit], [line.days, line.limit]], 'poor', { borderWidth: 1.5 })
    ];
    const { x, y } = chart.options.scales;
    x.max = line.days;
    x.afterBuildTicks = (axis) => { axis.ticks = [0, line.days / 2, line.days].map((value) => ({ value })); };
    x.ticks.callback = (value) => days.format(Date.parse(line.endsOn + 'T00:00:00Z') - (line.days - value) * 86400000);
    x.ticks.align = 'inner';
    x.ticks.color = y.ticks.color = color('muted');
    x.border.color = y.grid.color = color('line');
    chart.update('none');
  }

  function draw() {
    if (typeof Chart === 'undefined') return;
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    root.classList.add('drawn');
    drawGauge('quota');
    drawGauge('budget');
    drawLine();
  }

  // The element of a renewed part that stands for the focused one: same link, form or details.
  function twinOf(focused, fresh) {
    const marks = (each) => {
      const form = each.closest('form');
      const name = each.closest('details')?.id ?? '';
      return [each.tagName, each.getAttribute('href'), name, form && form.outerHTML].join(' ');
    };
    return [...fresh.querySelectorAll(focused.tagName)].find((each) => marks(each) === marks(focused));
  }

  function take(text) {
    const fresh = new DOMParser().parseFromString(text, 'text/html');
    const isEmpty = (page) => page.querySelector('[data-empty]') !== null;
    if (isEmpty(document) !== isEmpty(fresh)) return location.reload();
    fresh.querySelectorAll('[data-part]').forEach((next) => {
      const old = part(next.dataset.part);
      if (!old) return;
      next.querySelectorAll('details[id]').forEach((each) => {
        each.open = document.getElementById(each.id)?.open === true;
      });
      if (old.outerHTML === next.outerHTML) return;
      const focused = old.contains(document.activeElement) && document.activeElement;
      old.replaceWith(document.importNode(next, true));
      if (focused) twinOf(focused, part(next.dataset.part))?.focus({ preventScroll: true });
    });
    draw();
  }

  async function renew() {
    if (document.hidden || isAsking) return;
    isAsking = true;
    let silence = '';
    try {
      const patience = AbortSignal.timeout(10000);
      const response = await fetch(PARTS, { signal: patience, cache: 'no-store', redirect: 'error' });
      if (response.status === 401) location.reload();
      if (!response.ok) throw new Error(String(response.status));
      const text = await response.text();
      heardAt = Date.now();
      take(text);
    } catch {
      const seconds = Math.round((Date.now() - heardAt) / 1000);
      const age = seconds < 120 ? seconds + ' s' : Math.round(seconds / 60) + ' min';
      silence = 'brand-enrich does not answer. The figures below are ' + age + ' old.';
    }
    const place = document.getElementById('silent');
    place.hidden = silence === '';
    place.textContent = silence;
    isAsking = false;
  }

  draw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  document.addEventListener('visibilitychange', renew);
  setInterval(renew, 5000);
})();
`;
