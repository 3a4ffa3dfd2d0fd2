/**
 * The holding side of guest runs: a process that stays, and has a lookup worker, welcomes the runs of other terminals.
 */
import type { Engine } from '../engine/engine.js';
import type { OpenedService } from './open-service.js';

/**
 * From here on runs of other processes may use the lookups of this one's worker, when they have its token (or `--account`) and a
 * service that it asks. Call it right after the engine is opened, where there will be a worker: guests wait for neither. On
 * Redis and Postgres, which other processes open by themselves, nothing happens.
 */
export function hostGuests(engine: Engine, service: Pick<OpenedService, 'queueName' | 'clientFor'>): void {
  engine.guests?.open((wanted) => {
    if (wanted.queueName !== service.queueName) return 'token';
    return service.clientFor(wanted.service) === null ? 'service' : null;
  });
}
