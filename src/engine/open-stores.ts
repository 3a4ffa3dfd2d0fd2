/**
 * Opens an engine's stores for looking and for orders. When another process of this machine holds the embedded
 * engine's folder, that one answers in its place.
 */
import { type OpenEngineOptions, openEngine } from './open-engine.js';
import { proxyStores } from './store-calls.js';
import { type EngineStores, storesOf } from './stores.js';

/** Throws what {@link openEngine} throws. */
export async function openStores(options: OpenEngineOptions): Promise<EngineStores> {
  if (options.engine === 'embedded') {
    const { askHolder } = await import('./embedded/open-embedded-engine.js');
    const isAnswering = await askHolder(options.stateFolder, { store: 'runs', method: 'list', args: [1] });
    if (isAnswering !== null) {
      return proxyStores(options.stateFolder, (message) => askHolder(options.stateFolder, message));
    }
  }
  return storesOf(await openEngine(options));
}
