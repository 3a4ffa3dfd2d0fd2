/** Beside "Start": what it costs at most by the fields as they are now. */
const words = document.querySelector('.start output');
const form = document.getElementById('plan-form');

if (words && form) {
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
    const capped = `at most ${now.toLocaleString('en')} request${now === 1 ? '' : 's'}${why}`;
    if (readingNow() !== read) words.textContent = 'shows the changed plan first';
    else words.textContent = now === most ? planned : capped;
  };

  document.addEventListener('input', say);
  // A browser that comes back to the page fills its fields again.
  addEventListener('pageshow', say);
}
