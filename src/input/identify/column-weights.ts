/** What evidence is worth, in log-odds: fitted by `npm run fit-columns`, never by hand. */

export type Weights = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A family of candidates, and names of evidence with their weights. */
const FITTED = `
  web one -6.59 valid 4.47 fill 3.51 few -5.04 board -3.84 deep -3.59 shared -6.68 head 2.49
  web neg -2.98 tickerLike -4.12 alone 1.68
  mail one -5.03 valid 1.97 fill 1.9 few -5.03 free -2.79 head 3.83 neg -2
  isin one -4.83 valid 8.17 fill 1.17 few -3 head 2.1
  ticker one -7.07 valid 1.25 fill 0.45 few -4.16 lettered 0.96 closed -4.47 other -6.01 codes -5.16
  ticker fixed 1.19 otherCode -2.6 head 6.95 listed 6.6 known 4.61 coins -2.07 markets -4 context 1
  ticker wordy -4.01 alone 2.58 coinHead -1.5
  crypto one -7.95 valid 0.13 fill 1.38 few -4.22 lettered 0.93 closed -3.3 other -6 codes -3.88
  crypto fixed -2.04 otherCode -2.71 head 5.24 listed -3 known -2.45 coins 5.61 markets 3.12
  crypto context 1.29 alone 1.98 coinHead 0.64
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
