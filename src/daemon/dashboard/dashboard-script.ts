/**
 * The page's own script: renews the parts that changed every few seconds, without touching the rest, and draws the gauges
 * and the line with Chart.js from what stands on the page. Without it the page asks for itself as a whole.
 */
export const DASHBOARD_SCRIPT = `'use strict';
(function () {
  var EVERY_MS = 5000;
  var charts = {};
  var heardAt = Date.now();

  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  }
  var TONES = { ours: 'link', theirs: 'unscored', left: 'line', near: 'acceptable', over: 'poor' };

  function part(name) {
    return document.querySelector('[data-part="' + name + '"]');
  }
  function box(name) {
    return document.querySelector('[data-for="' + name + '"]');
  }

  function drawGauge(name) {
    var text = part(name) && part(name).dataset.gauge;
    var place = box(name);
    if (!place) return;
    place.hidden = !text;
    if (!text) return;
    var slices = JSON.parse(text);
    var chart = charts[name];
    if (!chart) {
      chart = charts[name] = new Chart(place.querySelector('canvas'), {
        type: 'doughnut',
        data: { datasets: [{ data: [], borderWidth: 0 }] },
        options: {
          animation: false,
          responsive: true,
          maintainAspectRatio: false,
          circumference: 180,
          rotation: -90,
          cutout: '74%',
          events: [],
          plugins: { legend: { display: false }, tooltip: { enabled: false } }
        }
      });
    }
    var set = chart.data.datasets[0];
    set.data = slices.map(function (slice) { return slice[1]; });
    if (!set.data.some(function (size) { return size > 0; })) {
      slices = [['left', 1]];
      set.data = [1];
    }
    set.backgroundColor = slices.map(function (slice) { return color(TONES[slice[0]]); });
    chart.update('none');
  }

  function dayName(end, back) {
    var at = new Date(Date.parse(end + 'T00:00:00Z') - back * 86400000);
    return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
  }

  function drawLine() {
    var text = part('projection') && part('projection').dataset.line;
    var place = box('projection');
    if (!place) return;
    place.hidden = !text;
    if (!text) return;
    var line = JSON.parse(text);
    var chart = charts.projection;
    if (!chart) {
      chart = charts.projection = new Chart(place.querySelector('canvas'), {
        type: 'line',
        data: { datasets: [{}, {}, {}] },
        options: {
          animation: false,
          responsive: true,
          maintainAspectRatio: false,
          events: [],
          plugins: { legend: { display: false }, tooltip: { enabled: false } },
          scales: {
            x: { type: 'linear', min: 0, grid: { display: false }, border: {}, ticks: { maxRotation: 0, font: { size: 12 } } },
            y: { beginAtZero: true, grace: '8%', border: { display: false }, grid: {}, ticks: { maxTicksLimit: 4, precision: 0, font: { size: 12 } } }
          }
        }
      });
    }
    function set(points, tone, more) {
      return Object.assign({ data: points, borderColor: color(tone), backgroundColor: color(tone), borderWidth: 2, pointRadius: 0 }, more);
    }
    chart.data.datasets = [
      set([{ x: 0, y: 0 }, { x: line.gone, y: line.used }], 'link', { borderWidth: 3 }),
      set([{ x: line.gone, y: line.used }, { x: line.days, y: line.projected }], 'link', { borderDash: [5, 5] }),
      set(line.limit === null ? [] : [{ x: 0, y: line.limit }, { x: line.days, y: line.limit }], 'poor', { borderWidth: 1.5 })
    ];
    var scales = chart.options.scales;
    scales.x.max = line.days;
    scales.x.afterBuildTicks = function (axis) {
      axis.ticks = [0, line.days / 2, line.days].map(function (value) { return { value: value }; });
    };
    scales.x.ticks.callback = function (value) { return dayName(line.endsOn, line.days - value); };
    scales.x.ticks.align = 'inner';
    scales.x.ticks.color = scales.y.ticks.color = color('muted');
    scales.x.border.color = scales.y.grid.color = color('line');
    chart.update('none');
  }

  function draw() {
    if (typeof Chart === 'undefined') return;
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    document.documentElement.classList.add('drawn');
    drawGauge('quota');
    drawGauge('budget');
    drawLine();
  }

  function take(text) {
    var fresh = new DOMParser().parseFromString(text, 'text/html');
    if (Boolean(document.querySelector('[data-empty]')) !== Boolean(fresh.querySelector('[data-empty]'))) {
      location.reload();
      return;
    }
    fresh.querySelectorAll('[data-part]').forEach(function (next) {
      var old = part(next.dataset.part);
      if (!old || old.outerHTML === next.outerHTML) return;
      if (old.contains(document.activeElement) && document.activeElement !== document.body) {
        var link = document.activeElement.getAttribute('href');
        old.replaceWith(document.importNode(next, true));
        var again = link && part(next.dataset.part).querySelector('a[href="' + link + '"]');
        if (again) again.focus({ preventScroll: true });
        return;
      }
      old.replaceWith(document.importNode(next, true));
    });
    draw();
  }

  function showSilence(silence) {
    var place = document.getElementById('silent');
    place.hidden = silence === null;
    place.textContent = silence === null ? '' : silence;
  }

  var isAsking = false;
  function renew() {
    if (document.hidden || isAsking) return;
    isAsking = true;
    var patience = new AbortController();
    var timer = setTimeout(function () { patience.abort(); }, 10000);
    fetch('/parts', { signal: patience.signal, cache: 'no-store', redirect: 'error' })
      .then(function (response) {
        if (response.status === 401) location.reload();
        if (!response.ok) throw new Error(String(response.status));
        return response.text();
      })
      .then(function (text) {
        heardAt = Date.now();
        take(text);
        showSilence(null);
      })
      .catch(function () {
        var seconds = Math.round((Date.now() - heardAt) / 1000);
        showSilence('brand-enrich does not answer. The figures below are ' + (seconds < 120 ? seconds + ' s' : Math.round(seconds / 60) + ' min') + ' old.');
      })
      .finally(function () {
        clearTimeout(timer);
        isAsking = false;
      });
  }

  draw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  document.addEventListener('visibilitychange', renew);
  setInterval(renew, EVERY_MS);
})();
`;
