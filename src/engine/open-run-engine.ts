/**
 * Opens the engine of a run. When another process of this machine holds the embedded engine's folder and does lookups for others,
 * the run is its guest: everything but the lookups is done here, and the stores are asked over the folder's socket.
 */
import { BrandEnrichError, FailFileError } from '../errors.js';
import type { Engine, RunEngine } from './engine.js';
import { findHolder } from './find-holder.js';
import type { GuestAnswer, GuestRefusal, Holder, WantedLookups } from './guests.js';
import { keepAsking } from './keep-asking.js';
import { type OpenEngineOptions, openEngine } from './open-engine.js';
import { createPatience, withPatience } from './patience.js';
import { type AskStore, createRunEngineProxy, proxyOf } from './store-proxies.js';

export type OpenedRunEngine =
  /** Opened here, and the caller's to close. */
  | { readonly type: 'own'; readonly engine: Engine }
  | { readonly type: 'guest'; readonly engine: RunEngine; readonly host: Holder };

export interface OpenRunEngineOptions extends OpenEngineOptions {
  /** After it a guest does not wait any more for a holder that is away. */
  readonly stop: AbortSignal;
}

/**
 * Throws what {@link openEngine} throws; `engine-held` also when the holder does not do these lookups, with the reason and the
 * ways out.
 */
export async function openRunEngine(
  options: OpenRunEngineOptions,
  wanted: WantedLookups,
): Promise<OpenedRunEngine> {
  const asGuest = () => (options.engine === 'embedded' ? visit(options, wanted) : null);
  const guest = await asGuest();
  if (guest !== null) return guest;
  try {
    return { type: 'own', engine: await openEngine(options) };
  } catch (error) {
    // Somebody was quicker, perhaps one that does lookups for others.
    const isHeld = error instanceof BrandEnrichError && error.code === 'engine-held';
    const late = isHeld ? await asGuest() : null;
    if (late !== null) return late;
    throw error;
  }
}

async function visit(
  { stateFolder, log, stop }: OpenRunEngineOptions,
  wanted: WantedLookups,
): Promise<OpenedRunEngine | null> {
  const ask = await findHolder(stateFolder);
  if (ask === null) return null;
  const assertWelcome = async () => {
    const { by, refusal } = await present(ask, wanted);
    if (refusal !== null) throw refused(stateFolder, by, refusal);
    return by;
  };
  const host = await assertWelcome();
  const engine = createRunEngineProxy(stateFolder, keepAsking(ask, { assertWelcome, log, stop }));
  return { type: 'guest', engine: withPatience(engine, createPatience({ log, stop })), host };
}

function present(ask: AskStore, { queueName, service }: WantedLookups): Promise<GuestAnswer> {
  return proxyOf('guests', ask).answer({ queueName, service });
}

const REFUSALS: Readonly<Record<GuestRefusal, readonly [why: string, todo: string]>> = {
  nobody: [
    'which does no lookups for other runs',
    'wait for it to end, or keep `brand-enrich up` running, which does; otherwise name another folder with --state, or use --engine redis://... which many processes can share',
  ],
  token: ['which has another token or --account', 'use the same, or name another folder with --state'],
  service: ['which asks another service', 'use the same --base-url, or name another folder with --state'],
};

function refused(folder: string, { pid, command, since }: Holder, refusal: GuestRefusal): FailFileError {
  const [why, todo] = REFUSALS[refusal];
  return new FailFileError({
    code: 'engine-held',
    what: `the state folder is held by process ${pid} (${command}) since ${since}, ${why}`,
    subject: folder,
    todo,
  });
}
