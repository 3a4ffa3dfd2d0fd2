/** Weights of evidence in log-odds, fitted by `npm run fit-columns`, never set by hand. */

export type Weights = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A family of candidates, and names of evidence with their weights. */
const FITTED = `
  web one -6.21 valid 4.64 fill 3.25 few -5.33 board -4.18 deep -4.01 shared -6.36 head 2.36
  web neg -3.81 tickerLike -4.1 alone 1.65
  mail one -4.58 valid 2.8 fill 1.84 few -5.57 free -3.12 head 3.16 neg -2
  isin one -4.22 valid 8.33 fill 1.78 few -3 head 2.16
  ticker one -6.83 valid 1.49 fill 0.4 few -4.49 lettered 0.41 closed -4.88 other -6 codes -4.64
  ticker fixed 1.04 otherCode -2.5 head 6.88 listed 6.63 known 5.2 coins -2.19 markets -4.06
  ticker context 0.51 wordy -4.04 alone 2 coinHead -1.5
  crypto one -8.12 valid -0.02 fill 1.14 few -4.2 lettered 0.79 closed -3.16 other -6 codes -3.89
  crypto fixed -2.03 otherCode -2.56 head 5.55 listed -2.99 known -2.19 coins 5.37 markets 3.13
  crypto context 1.46 alone 1.89 coinHead 0.68
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
