/** A notifier that records what it is given. */
import type { Notice } from '../../src/run/notices/notice.js';
import type { Notifier } from '../../src/run/notices/notifier.js';

export interface RecordingNotifier extends Notifier {
  readonly notices: readonly Notice[];
  /** Runs for which a check of the limit was requested. */
  readonly looks: readonly Notice['run'][];
}

export function createRecordingNotifier(): RecordingNotifier {
  const notices: Notice[] = [];
  const looks: Notice['run'][] = [];
  return {
    notices,
    looks,
    notify(notice) {
      if (notice !== null) notices.push(notice);
    },
    notifyOnce(notice) {
      notices.push(notice);
    },
    notifyNearLimit(_, __, run) {
      looks.push(run);
    },
    close: async () => undefined,
  };
}
