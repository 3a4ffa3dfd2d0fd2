/** Reloads a page that waits for something, once there is more to see. */
const headlineOf = (page) => page.querySelector('.headline')?.textContent;

async function look() {
  try {
    const answer = await fetch(location.href, { redirect: 'manual', cache: 'no-store' });
    const fresh = new DOMParser().parseFromString(answer.ok ? await answer.text() : '', 'text/html');
    if (headlineOf(fresh) !== headlineOf(document)) return location.reload();
  } catch {
    // No answer: asked again.
  }
  setTimeout(look, 1000);
}

setTimeout(look, 1000);
