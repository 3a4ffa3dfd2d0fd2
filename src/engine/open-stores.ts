/**
 * Opens an engine's stores for looking and for orders. When another process of this machine holds the embedded
 * engine's folder, that one answers in its place.
 */
import { findHolder } from './find-holder.js';
import { type OpenEngineOptions, openEngine } from './open-engine.js';
import { createStoreProxies } from './store-proxies.js';
import { type EngineStores, storesOf } from './stores.js';

/** Throws what {@link openEngine} throws. */
export async function openStores(options: OpenEngineOptions): Promise<EngineStores> {
  const ask = options.engine === 'embedded' ? await findHolder(options.stateFolder) : null;
  return ask === null ? storesOf(await openEngine(options)) : createStoreProxies(options.stateFolder, ask);
}
