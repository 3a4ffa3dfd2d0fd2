/** Renews changed parts and draws charts from the page. Without it the whole page reloads. */
import { CHART_SCRIPT } from '../../run/report/page-script.js';

export const DASHBOARD_SCRIPT = `'use strict';
(() => {${CHART_SCRIPT}
  const PARTS = document.querySelector('meta[name=parts]').content;
  let chart = null;
  let heardAt = Date.now();
  let isAsking = false;

  const part = (name) => document.querySelector('[data-part="' + name + '"]');

  const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

  function drawLine() {
    const font = { size: 12 };
    const place = document.querySelector('[data-for="projection"]');
    const text = part('projection')?.dataset.line;
    if (!place) return;
    place.hidden = !text;
    if (!text) return;
    const line = JSON.parse(text);
    chart ??= new Chart(place.querySelector('canvas'), {
      type: 'line',
      data: { datasets: [] },
      options: options({
        events: [],
        plugins: { legend: { display: false }, tooltip: { enabled: false } },
        scales: {
          x: { type: 'linear', min: 0, grid: { display: false }, border: {}, ticks: { maxRotation: 0, font } },
          y: { beginAtZero: true, grace: '8%', border: { display: false }, grid: {}, ticks: { maxTicksLimit: 4, precision: 0, font } }
        }
      })
    });
    const set = (points, tone, more) => ({
      data: points.map(([x, y]) => ({ x, y })), borderColor: color(tone), backgroundColor: color(tone), borderWidth: 2, pointRadius: 0, ...more
    });
    chart.data.datasets = [
      set([...line.points, [line.gone, line.used]], 'link', { borderWidth: 3, pointRadius: line.points.length === 0 ? 4 : 0 }),
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
    drawLine();
  }

  function take(text) {
    const fresh = new DOMParser().parseFromString(text, 'text/html');
    const isEmpty = (page) => page.querySelector('[data-empty]') !== null;
    if (isEmpty(document) !== isEmpty(fresh)) return location.reload();
    fresh.querySelectorAll('[data-part]').forEach((next) => {
      const old = part(next.dataset.part);
      if (!old || isInUse(old)) return;
      next.querySelectorAll('details').forEach((each) => {
        const before = each.id && document.getElementById(each.id);
        if (before) each.open = before.open;
      });
      if (old.outerHTML === next.outerHTML) return;
      const focused = old.contains(document.activeElement) && nameOf(document.activeElement);
      const drawn = document.importNode(next, true);
      old.replaceWith(drawn);
      if (!focused) return;
      const same = [...drawn.querySelectorAll('a, button, input, summary, [tabindex]')].find((each) => nameOf(each) === focused);
      // Where it is gone, browsers let the Tab key go on from the same place.
      same?.focus({ preventScroll: true });
    });
    draw();
  }

  // The same for a control before and after.
  function nameOf(control) {
    const form = control.closest('form');
    return [
      control.tagName, control.id, control.name, control.getAttribute('href'), form?.getAttribute('action'),
      control.closest('details')?.id, control.tagName === 'BUTTON' ? control.textContent : ''
    ].join('|');
  }

  const FIELDS = 'input:not([type=hidden]), select, textarea';

  // Whether a button is held down, or a form filled in: its part stays until it is sent or emptied.
  function isInUse(place) {
    return place.matches(':active') || [...place.querySelectorAll(FIELDS)].some((field) => field === document.activeElement || isChanged(field));
  }

  function isChanged(field) {
    const { options, files } = field;
    if (options) return field.selectedIndex !== Math.max(0, [...options].findIndex((each) => each.defaultSelected));
    return files ? files.length > 0 : field.value !== field.defaultValue || field.checked !== field.defaultChecked;
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
