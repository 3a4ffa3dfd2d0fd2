/** What evidence is worth, in log-odds: fitted by `npm run fit-columns`, never by hand. */

export type Weights = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A family of candidates, and names of evidence with their weights. */
const FITTED = `
  web one -6.61 valid 4.44 fill 3.55 few -4.82 board -3.86 deep -3.6 shared -6.69 head 2.52
  web neg -3.02 tickerLike -4.12 alone 1.68
  mail one -5.03 valid 1.97 fill 1.9 few -5.03 free -2.79 head 3.82 neg -2
  isin one -4.83 valid 8.17 fill 1.17 few -3 head 2.1
  ticker one -7.25 valid 1.74 fill 0.29 few -4.9 lettered 0.81 closed -4.38 other -6.01 codes -5.26
  ticker fixed 1.15 otherCode -3.19 head 6.89 listed 6.57 known 4.39 coins -2.04 markets -4.08
  ticker context 1 wordy -4.01 alone 2.38
  crypto one -8.02 valid 0.18 fill 1.28 few -4.38 lettered 1.13 closed -3.29 other -6 codes -4.12
  crypto fixed -2.03 otherCode -1.64 head 5.34 listed -3 known -2.04 coins 6.19 markets 3.72
  crypto context 1.25 alone 1.91
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
