/** Script of the pages: renews them, keeps the focus, sends files, and shows what a start costs. */

/** Seconds between renewals; NaN for pages that never change. Without scripts pages reload. */
const RENEWED_EVERY = Number(document.querySelector('meta[name=renew]')?.content);
let renewedAt = Date.now();
let isAsking = false;

const part = (name) => document.querySelector(`[data-part="${name}"]`);
const isEmpty = (page) => page.querySelector('[data-empty]') !== null;

function take(text) {
  const fresh = new DOMParser().parseFromString(text, 'text/html');
  if (isEmpty(document) !== isEmpty(fresh)) {
    remember(document.activeElement);
    return location.reload();
  }
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
    // Without that control browsers let the Tab key continue from the same place.
    if (focused)
      controlsIn(drawn)
        .find((each) => nameOf(each) === focused)
        ?.focus({ preventScroll: true });
  });
}

const controlsIn = (place) => [
  ...(place?.querySelectorAll('a, button, input:not([type=hidden]), summary, [tabindex]') ?? []),
];

// Returns a text that identifies a control, also after the page was renewed.
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

// True while a button is held down or a field filled in: then its part of the page is not renewed.
function isInUse(place) {
  const fields = [...place.querySelectorAll('input:not([type=hidden])')];
  return (
    place.matches(':active') ||
    fields.some((field) => field === document.activeElement || field.value !== field.defaultValue)
  );
}

async function renew() {
  if (document.hidden || isAsking) return;
  isAsking = true;
  let silence = '';
  try {
    const signal = AbortSignal.timeout(10000);
    const response = await fetch(location.href, { signal, cache: 'no-store', headers: { 'x-renew': '1' } });
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

if (RENEWED_EVERY > 0) {
  document.addEventListener('visibilitychange', renew);
  setInterval(renew, RENEWED_EVERY * 1000);
}

// A pressed control may load a page. The focus then returns to the control, else to what took its
// place, else to the target of the address, else to the heading.
const PRESSED = 'brand-enrich-pressed';

// Returns the name of the run or file whose list item contains a control.
const itemOf = (control) => control?.closest('li')?.querySelector('.run-name')?.textContent;

function remember(control) {
  const { part } = control.closest('[data-part]')?.dataset ?? {};
  const place = { name: nameOf(control), item: itemOf(control), pathname: location.pathname, part };
  sessionStorage.setItem(PRESSED, JSON.stringify(place));
}

document.addEventListener('submit', ({ target, submitter }) =>
  remember(submitter ?? target.querySelector('button') ?? target),
);
// Links to another view of the same page, such as another column of the file.
document.addEventListener('click', ({ target }) => {
  const link = target.closest('a[href]');
  if (link?.pathname === location.pathname && link.hash === '') remember(link);
});

function returnFocus() {
  const pressed = JSON.parse(sessionStorage.getItem(PRESSED));
  sessionStorage.removeItem(PRESSED);
  if (pressed === null) return;
  const { pathname, name, item, part: partName } = pressed;
  const isHere = pathname === location.pathname;
  const all = isHere ? controlsIn(document) : [];
  const near = isHere ? controlsIn(partName && part(partName)) : [];
  const next = near.find((each) => item !== undefined && each.matches('button') && itemOf(each) === item);
  const control = all.find((each) => nameOf(each) === name) ?? next ?? near[0];
  if (control) return control.focus();
  // The page itself may have focused one of its buttons.
  if (document.activeElement !== document.body) return;
  const place = document.getElementById(location.hash.slice(1)) ?? document.querySelector('h1');
  place.tabIndex = -1;
  place.focus({ preventScroll: true });
}

// Waits for `load`, because browsers go to the fragment of the address before it.
if (document.readyState === 'complete') returnFocus();
else addEventListener('load', returnFocus);

// How long the result of an action is shown: later it may be wrong, for example after a trial.
const SAID_MS = 15_000;
setTimeout(() => document.querySelector('.banner[role=status]')?.remove(), SAID_MS);

const upload = document.getElementById('upload');
if (upload) offerUpload(upload);
const words = document.querySelector('.start output');
if (words) sayCost(words, document.getElementById('plan-form'));

/** Sends files that a person chose or dropped on the page. Opens the plan of a single file. */
function offerUpload(form) {
  const headers = { 'x-form-token': document.querySelector('meta[name=form-token]').content };
  const [input, bar] = ['input[type=file]', 'progress'].map((each) => form.querySelector(each));
  const status = document.getElementById('upload-status');
  const fault = document.getElementById('upload-fault');
  const LOST = 'The connection was lost, and nothing was kept. Send the file again.';
  let isSending = false;
  form.hidden = false;

  function say(text, isFault) {
    status.textContent = isFault ? '' : text;
    fault.textContent = isFault ? text : '';
    fault.hidden = !isFault;
  }

  // XMLHttpRequest, because `fetch` reports no progress.
  const transfer = (file, query) =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open('POST', `/uploads${query}`);
      for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded, total }) => {
        bar.value = total > 0 ? loaded / total : 0;
      };
      request.onload = () =>
        request.status === 201
          ? resolve(JSON.parse(request.responseText).path)
          : reject(new Error(request.responseText));
      request.onerror = () => reject(new Error(LOST));
      request.send(file);
    });

  /** Returns the path of the plan. Errors have `isLast` if further files would fail, too. */
  async function sendOne(file) {
    const query = `?${new URLSearchParams({ name: file.name, inbox: form.elements.inbox.value })}`;
    const last = (text) => Object.assign(new Error(text), { isLast: true });
    // Checked before sending, because browsers do not read an answer while they send.
    const asked = fetch(`/uploads/check${query}&size=${file.size}`, { method: 'POST', headers });
    const answer = await asked.catch(() => {
      throw last(LOST);
    });
    if (answer.status === 401) throw last('Your session has ended: reload the page and sign in.');
    if (!answer.ok) throw new Error(await answer.text());
    bar.hidden = false;
    return transfer(file, query);
  }

  async function send(files) {
    if (isSending) return;
    isSending = input.disabled = true;
    const isOne = files.length === 1;
    const faults = [];
    let path = '/';
    for (const [at, file] of files.entries()) {
      say(`Sending ${file.name}${isOne ? '' : `, ${at + 1} of ${files.length}`}`);
      try {
        path = await sendOne(file);
      } catch ({ message, isLast }) {
        faults.push(isOne ? message : `${file.name}: ${message}`);
        if (isLast) break;
      }
    }
    bar.hidden = true;
    isSending = input.disabled = false;
    input.value = '';
    if (faults.length > 0) return say(faults.join('\n'), true);
    remember(form);
    if (isOne) return location.assign(path);
    location.hash = 'sent';
    location.reload();
  }

  input.addEventListener('change', () => send([...input.files]));

  const isFile = ({ dataTransfer }) => dataTransfer !== null && [...dataTransfer.types].includes('Files');
  const show = (isOver) => document.body.classList.toggle('dropping', isOver);
  document.addEventListener('dragover', (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    show(true);
  });
  document.addEventListener('dragleave', ({ relatedTarget }) => {
    if (relatedTarget === null) show(false);
  });
  document.addEventListener('drop', (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    show(false);
    const items = [...event.dataTransfer.items].filter(({ kind }) => kind === 'file');
    if (items.some((item) => item.webkitGetAsEntry?.()?.isDirectory))
      say('This is a folder. Drop the files in it.', true);
    else send(items.map((item) => item.getAsFile()));
  });
}

/** Shows beside "Start" what it costs at most, by the current values of the fields. */
function sayCost(words, form) {
  const planned = words.textContent;
  const most = Number(words.dataset.most);
  // Only fields of the form change how the file is read.
  const fields = [...form.querySelectorAll('select, input')];
  const readingNow = () => JSON.stringify(fields.map(({ value, checked }) => [value, checked]));
  const read = readingNow();

  const say = () => {
    const { try: trial, maxRequests } = form.elements;
    const tried = trial?.checked ? Number(trial.value) : most;
    const now = Math.min(most, tried, Number(maxRequests?.value || most));
    const why = now === tried ? ' at first' : ', by its cap';
    const capped = `at most ${now.toLocaleString('en')} paid lookup${now === 1 ? '' : 's'}${why}`;
    if (readingNow() !== read) words.textContent = 'shows the changed plan first';
    else words.textContent = now === most ? planned : capped;
  };

  document.addEventListener('input', say);
  // A browser that returns to the page restores the values of its fields.
  addEventListener('pageshow', say);
}
