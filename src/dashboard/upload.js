/** Sends files that were chosen, or dropped anywhere on the page; of one, opens its plan. */

const upload = document.getElementById('upload');
if (upload) offerUpload(upload);
const words = document.querySelector('.start output');
const form = document.getElementById('plan-form');
if (words && form) sayCost(words, form);

function offerUpload(form) {
  const headers = { 'x-form-token': document.querySelector('meta[name=form-token]').content };
  const [input, bar] = ['input[type=file]', 'progress'].map((each) => form.querySelector(each));
  const words = document.getElementById('upload-status');
  const fault = document.getElementById('upload-fault');
  const LOST = 'The connection was lost, and nothing was kept. Send the file again.';
  let isSending = false;
  form.hidden = false;

  function say(text, isFault) {
    words.textContent = isFault ? '' : text;
    fault.textContent = isFault ? text : '';
    fault.hidden = !isFault;
  }

  // fetch reports no progress.
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

  /** The path of its plan. Throws; `isLast`: the next file would not arrive either. */
  async function sendOne(file) {
    const query = `?${new URLSearchParams({ name: file.name, inbox: form.elements.inbox.value })}`;
    const last = (text) => Object.assign(new Error(text), { isLast: true });
    // Asked first, because browsers do not read an answer while they send.
    const answer = await fetch(`/uploads/check${query}&size=${file.size}`, {
      method: 'POST',
      headers,
    }).catch(() => {
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
    if (faults.length > 0) say(faults.join('\n'), true);
    else if (isOne) location.assign(path);
    else {
      location.hash = 'sent';
      location.reload();
    }
  }

  input.addEventListener('change', () => send([...input.files]));

  let depth = 0;
  const isFile = ({ dataTransfer }) => dataTransfer !== null && [...dataTransfer.types].includes('Files');
  const show = (next) => {
    depth = Math.max(0, next);
    document.body.classList.toggle('dropping', depth > 0);
  };
  document.addEventListener('dragenter', (event) => {
    if (isFile(event)) show(depth + 1);
  });
  document.addEventListener('dragleave', (event) => {
    if (isFile(event)) show(depth - 1);
  });
  document.addEventListener('dragover', (event) => {
    if (isFile(event)) event.preventDefault();
  });
  document.addEventListener('drop', (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    show(0);
    const items = [...event.dataTransfer.items].filter(({ kind }) => kind === 'file');
    if (items.some((item) => item.webkitGetAsEntry?.()?.isDirectory))
      say('This is a folder. Drop the files in it.', true);
    else send(items.map((item) => item.getAsFile()));
  });
}

/** Says beside "Start" what it costs at most by the fields as they are now. */
function sayCost(words, form) {
  const planned = words.textContent;
  const readingNow = () =>
    JSON.stringify(
      ['pick', 'kind', 'sheet', 'skipLines', 'header', 'only', 'only-is', 'only-value'].map((name) =>
        new FormData(form).getAll(name),
      ),
    );
  const read = readingNow();

  const say = () => {
    const most = Number(words.dataset.most);
    const trial = form.elements.try?.checked ? Number(form.elements.try.value) : most;
    const cap = form.elements.maxRequests?.value || most;
    const now = Math.min(most, trial, Number(cap));
    const why = now === trial ? ' at first' : ', by its cap';
    const capped = `at most ${now.toLocaleString('en')} paid lookup${now === 1 ? '' : 's'}${why}`;
    if (readingNow() !== read) words.textContent = 'shows the changed plan first';
    else words.textContent = now === most ? planned : capped;
  };

  document.addEventListener('input', say);
  // A browser that comes back to the page fills its fields again.
  addEventListener('pageshow', say);
}
