/** Finds what makes a page hard to read, inside the browser. Text, because it runs there. */

/**
 * Evaluates to a list of sentences about text that is cut off, too small, or of too little contrast
 * to its background.
 */
export const FIND_ILLEGIBLE = `(() => {
  const problems = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) problems.push('the page is wider than the window');
  const channels = (color) => (color.match(/[\\d.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    const text = node.textContent.trim();
    if (text === '' || element.closest('script, style, svg, .unseen')) continue;
    if (!element.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const style = getComputedStyle(element);
    const isCut = style.textOverflow === 'ellipsis' || getComputedStyle(element.parentElement).textOverflow === 'ellipsis';
    for (const box of range.getClientRects()) {
      if (box.right > width + 0.5 && !isCut) problems.push('beyond the edge: ' + text);
    }
    if (parseFloat(style.fontSize) < 12) problems.push('too small: ' + text);
    const [a, b] = [luminance(channels(style.color)), luminance(groundOf(element))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) problems.push('contrast of ' + contrast.toFixed(2) + ': ' + text);
  }
  return [...new Set(problems)];
})()`;
