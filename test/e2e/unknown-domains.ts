/** Lists of domains of which the test service knows all, or none. */
import { isKnown } from '../support/brand-profile.js';
import { domainAt } from '../support/scene.js';

export function domains(isWanted: boolean, count: number, prefix = 'brand'): string[] {
  const found: string[] = [];
  for (let index = 0; found.length < count; index += 1)
    if (isKnown('domain', domainAt(index, prefix)) === isWanted) found.push(domainAt(index, prefix));
  return found;
}

export const unknown = (count: number, prefix?: string) => domains(false, count, prefix);

export const list = (texts: readonly string[]) => `website\n${texts.join('\n')}\n`;
