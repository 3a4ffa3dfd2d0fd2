/**
 * The check digit of an ISIN (ISO 6166: letters become 10 to 35, then Luhn), for the catalogue's own keys and for
 * the generator. Cleaning what customers write is `identify/`'s.
 */

/** The check digit, 0 to 9, of the first eleven characters: two letters, then nine of `0-9A-Z`. */
export function isinCheckDigit(first11: string): number {
  let sum = 0;
  let isDoubled = true;
  for (let i = first11.length - 1; i >= 0; i -= 1) {
    const value = Number.parseInt(first11[i] ?? '0', 36);
    const digits = value > 9 ? [value % 10, Math.floor(value / 10)] : [value];
    for (const digit of digits) {
      const weighted = isDoubled ? digit * 2 : digit;
      sum += weighted > 9 ? weighted - 9 : weighted;
      isDoubled = !isDoubled;
    }
  }
  return (10 - (sum % 10)) % 10;
}

/** Whether `text` is an ISIN in upper case with the right check digit. */
export function isIsin(text: string): boolean {
  return /^[A-Z]{2}[A-Z0-9]{9}[0-9]$/.test(text) && isinCheckDigit(text.slice(0, 11)) === Number(text[11]);
}
