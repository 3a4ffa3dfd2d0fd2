/** What evidence is worth, in log-odds: fitted by `npm run fit-columns`, never by hand. */

export type Weights = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A family of candidates, and names of evidence with their weights. */
const FITTED = `
  web one -6.57 valid 4.6 fill 3.72 few -5.11 board -3.72 deep -4.12 shared -6.35 head 2.19
  web neg -3.82 tickerLike -4.15 alone 1.51
  mail one -4.74 valid 1.37 fill 1.98 few -5.32 free -4.93 head 3.28 neg -2
  isin one -4.05 valid 8.41 fill 1.95 few -3 head 2.18
  ticker one -6.81 valid 1.59 fill 0.51 few -4.8 lettered 0.54 closed -4.23 other -6 codes -4.8
  ticker fixed 1.23 otherCode -2.68 head 6.23 listed 6.71 known 6.16 coins -2.11 markets -4.07
  ticker context 0.48 wordy -4.08 alone 1.93 coinHead -1.5
  crypto one -8.36 valid -0.24 fill 1.27 few -4.26 lettered 0.72 closed -3.23 other -6 codes -4.04
  crypto fixed -2.05 otherCode -2.7 head 5.99 listed -2.99 known -2.3 coins 5.84 markets 3.17
  crypto context 1.53 alone 1.87 coinHead 0.58
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
