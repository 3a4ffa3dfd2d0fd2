/** Renews changed parts of an open page. Without it the whole page reloads. */
const PARTS = document.querySelector('meta[name=parts]').content;
let renewedAt = Date.now();
let isAsking = false;

const part = (name) => document.querySelector(`[data-part="${name}"]`);

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
    const same = controlsIn(drawn).find((each) => nameOf(each) === focused);
    // Where it is gone, browsers let the Tab key go on from the same place.
    same?.focus({ preventScroll: true });
  });
}

const controlsIn = (place) => [
  ...place.querySelectorAll('a, button, input:not([type=hidden]), summary, [tabindex]'),
];

// The same for a control before and after.
function nameOf(control) {
  const form = control.closest('form');
  return [
    control.tagName,
    control.id,
    control.name,
    control.getAttribute('href'),
    form?.getAttribute('action'),
    control.closest('details')?.id,
    control.tagName === 'BUTTON' ? control.textContent : '',
  ].join('|');
}

const FIELDS = 'input:not([type=hidden]), select, textarea';

// Whether a button is held down, or a form filled in: its part stays until it is sent or emptied.
function isInUse(place) {
  return (
    place.matches(':active') ||
    [...place.querySelectorAll(FIELDS)].some((field) => field === document.activeElement || isChanged(field))
  );
}

function isChanged(field) {
  const { options, files } = field;
  if (options)
    return (
      field.selectedIndex !==
      Math.max(
        0,
        [...options].findIndex((each) => each.defaultSelected),
      )
    );
  return files
    ? files.length > 0
    : field.value !== field.defaultValue || field.checked !== field.defaultChecked;
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
    renewedAt = Date.now();
    take(text);
  } catch {
    const seconds = Math.round((Date.now() - renewedAt) / 1000);
    const age = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
    silence = `brand-enrich does not answer. The figures below are ${age} old.`;
  }
  const place = document.getElementById('silent');
  place.hidden = silence === '';
  place.textContent = silence;
  isAsking = false;
}

// A form loads a page: the focus comes back to what was pressed, else to what took its place, else
// to the content.
const PRESSED = 'brand-enrich-pressed';

// Of an item in a list: what it is about.
const itemOf = (control) => control?.closest('li')?.querySelector('.run-name')?.textContent;

document.addEventListener('submit', ({ target, submitter }) => {
  const control = submitter ?? target.querySelector('button');
  if (!control) return;
  const { pathname } = location;
  const partName = control.closest('[data-part]')?.dataset.part;
  const place = { pathname, name: nameOf(control), item: itemOf(control), part: partName };
  sessionStorage.setItem(PRESSED, JSON.stringify(place));
});

function returnFocus() {
  const { pathname, name, item, part: partName } = JSON.parse(sessionStorage.getItem(PRESSED) ?? '{}');
  sessionStorage.removeItem(PRESSED);
  if (pathname === undefined) return;
  if (pathname !== location.pathname) return focusContent();
  const same = controlsIn(document).find((each) => nameOf(each) === name);
  const near = partName === undefined ? [] : controlsIn(part(partName) ?? document.createElement('p'));
  const next = near.find((each) => item !== undefined && each.matches('button') && itemOf(each) === item);
  const control = same ?? next ?? near[0];
  if (control) control.focus();
  else focusContent();
}

// Unless something of the page has the focus, or its address says where to go.
function focusContent() {
  const main = document.querySelector('main');
  if (!main || location.hash || document.activeElement !== document.body) return;
  main.focus({ preventScroll: true });
}

// Browsers go to the fragment of an address until then.
if (document.readyState === 'complete') returnFocus();
else addEventListener('load', returnFocus);

document.addEventListener('visibilitychange', renew);
setInterval(renew, 5000);

// What the last action did has been read by then, and is old: a trial that it began may be over.
const SAID_MS = 15_000;
setTimeout(() => document.querySelector('.banner[role=status]')?.remove(), SAID_MS);
