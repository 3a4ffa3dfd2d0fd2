/** Holds a stream of which hardly any of the first answers match: its rest is not asked for. */
import { countOf, countText } from '../core/figures.js';
import { identifierText } from '../core/identifier.js';
import { FIRST_ANSWERS, judgeMatches } from '../run/lookups/match-check.js';
import { settingName } from '../run/words/say-reason.js';
import type { Ask } from './lookups.js';
import type { Found } from './waiters.js';

/**
 * `minMatch`: percent; null: at least one match. Until the first answers are judged, no more
 * lookups are under way than are missing of them.
 */
export function holdUnmatched(ask: Ask, minMatch: number | null): Ask {
  const answers = new Map<string, Found['status']>();
  let underWay = 0;
  let waiting: (() => void)[] = [];
  const counts = () => {
    const matched = [...answers.values()].filter((status) => status === 'matched').length;
    return { matched, answered: answers.size };
  };
  let verdict = judgeMatches(counts(), minMatch, FIRST_ANSWERS);

  return async (identifier) => {
    while (verdict === 'open' && underWay + answers.size >= FIRST_ANSWERS)
      await new Promise<void>((resolve) => waiting.push(resolve));
    if (verdict === 'enough') return ask(identifier);
    if (verdict === 'too few') return held(counts());
    underWay += 1;
    try {
      const found = await ask(identifier);
      const isAnswer = found.status === 'matched' || found.status === 'not_found';
      if (isAnswer && verdict === 'open') answers.set(identifierText(identifier), found.status);
      verdict = judgeMatches(counts(), minMatch, FIRST_ANSWERS);
      return found;
    } finally {
      underWay -= 1;
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    }
  };
}

function held({ matched, answered }: Parameters<typeof judgeMatches>[0]): Found {
  const error =
    `not asked for: ${countText(matched)} of the first ${countOf(answered, 'answer')} match; are the ` +
    `identifiers right? ${settingName('minMatch', 'program')} 0 asks for all`;
  const none = { brand: null, source: null, fetchedAt: null, billed: 0 };
  return { status: 'deferred', stopped: 'min-match', ...none, error };
}
