/** A notifier that records what it is given. */
import type { Notice } from '../../src/run/notices/notice.js';
import type { Notifier } from '../../src/run/notices/notifier.js';

export interface Told extends Notifier {
  readonly notices: readonly Notice[];
  /** Runs for which a check of the limit was requested. */
  readonly looks: readonly Notice['run'][];
}

export function createTold(): Told {
  const notices: Notice[] = [];
  const looks: Notice['run'][] = [];
  return {
    notices,
    looks,
    notify(notice) {
      if (notice !== null) notices.push(notice);
    },
    notifyNearLimit(_, __, run) {
      looks.push(run);
    },
    close: async () => undefined,
  };
}
