/** What evidence is worth, in log-odds: fitted by `npm run fit-columns`, never by hand. */

export type Weights = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A family of candidates, and names of evidence with their weights. */
const FITTED = `
  web one -6.59 valid 4.46 fill 3.51 few -5.04 board -3.85 deep -3.57 shared -6.68 head 2.49
  web neg -2.98 tickerLike -4.12 alone 1.68
  mail one -5.03 valid 1.97 fill 1.9 few -5.03 free -2.79 head 3.83 neg -2
  isin one -4.83 valid 8.17 fill 1.17 few -3 head 2.1
  ticker one -7.08 valid 1.27 fill 0.41 few -4.17 lettered 0.96 closed -4.62 other -6 codes -5.26
  ticker fixed 1.18 otherCode -2.54 head 7.25 listed 6.63 known 4.67 coins -2.12 markets -4.11
  ticker context 0.98 wordy -4.06 alone 2.57 coinHead -1.5
  crypto one -8.1 valid -0.06 fill 1.47 few -4.22 lettered 0.72 closed -3.2 other -6 codes -3.8
  crypto fixed -2.03 otherCode -2.6 head 5.66 listed -3 known -2.63 coins 5.55 markets 3.21
  crypto context 1.26 alone 1.98 coinHead 0.57
`;

export const WEIGHTS = readWeights(FITTED);

function readWeights(text: string): Weights {
  const weights: Record<string, Record<string, number>> = {};
  for (const line of text.trim().split('\n')) {
    const [family = '', ...terms] = line.trim().split(' ');
    const named = terms.flatMap((term, at) => (at % 2 === 0 ? [[term, Number(terms[at + 1])] as const] : []));
    weights[family] = { ...weights[family], ...Object.fromEntries(named) };
  }
  return weights;
}
