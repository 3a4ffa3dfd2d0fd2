/** Caps on requests and money of a waiting file: those it has, and what its inbox allows. */
import { join } from 'node:path';
import type { DaemonContext } from '../app/daemon-context.js';
import { BrandEnrichError, ConfigError, usageProblem } from '../core/errors.js';
import type { RunSettings } from '../engine/stores/run-store.js';
import { runSettingsOf } from '../run/enrich-request.js';
import type { FoundFile } from './find-files.js';
import { sideFileOf } from './inbox-file.js';
import {
  applyFolderSettings,
  readFolderSettings,
  readOwnSettings,
  settingsFilesOf,
} from './inbox-folder-settings.js';
import type { GivenCaps } from './start-file.js';

type CappedFile = Pick<FoundFile, 'root' | 'folder' | 'file' | 'under'>;

/** A cap: `own` of the file, `most` of its inbox; null without one. */
export type FileCap = Readonly<Record<'own' | 'most', string | null>>;

/** `maxCost` is on overage; null where there is none. */
export type ShownCaps = Readonly<{ maxRequests: FileCap; maxCost: FileCap | null }>;

export type FileCaps = ReturnType<typeof createFileCaps>;

export function createFileCaps({ loaded, service }: Pick<DaemonContext, 'loaded' | 'service'>) {
  const inboxOf = ({ root, under }: CappedFile) => readFolderSettings(settingsFilesOf(root, under), loaded);

  async function ownOf({ folder, file }: CappedFile) {
    const side = sideFileOf(join(folder, file ?? ''));
    return (await readOwnSettings(side))?.values ?? {};
  }

  return {
    /** Returns null if settings of its inbox, or its own, cannot be read. */
    async read(file: CappedFile): Promise<ShownCaps | null> {
      try {
        const [inbox, own] = await Promise.all([inboxOf(file), ownOf(file)]);
        const capOf = (key: 'maxRequests' | 'maxCost'): FileCap => {
          const [mine, most] = [own[key] ?? null, inbox[key]];
          return { own: mine === null ? null : String(mine), most: most === null ? null : String(most) };
        };
        const maxCost = capOf('maxCost');
        const isPaid = runSettingsOf(inbox, service).overage > 0 || maxCost.own !== null;
        return { maxRequests: capOf('maxRequests'), maxCost: isPaid ? maxCost : null };
      } catch (error) {
        if (error instanceof BrandEnrichError) return null;
        throw error;
      }
    },

    /** Returns the settings of its next run. Throws `ConfigError` for caps that cannot be. */
    async check(file: CappedFile, caps: GivenCaps): Promise<RunSettings> {
      const [inbox, own] = await Promise.all([inboxOf(file), ownOf(file)]);
      const values = Object.fromEntries(
        Object.entries({ ...own, ...caps }).filter(([, value]) => value !== null),
      );
      const settings = applyFolderSettings({ path: 'this form', values }, { ...loaded, settings: inbox });
      for (const key of ['maxRequests', 'maxCost'] as const) {
        const [given, most] = [caps[key] ?? null, inbox[key]];
        if (given === null || most === null || Number(given) <= Number(most)) continue;
        const what = `this inbox allows at most ${most}`;
        const todo = 'choose less, or ask the administrator of the inbox to raise it for all files';
        throw new ConfigError(usageProblem(what, `${key} ${given}`, todo));
      }
      return runSettingsOf(settings, service);
    },
  };
}
