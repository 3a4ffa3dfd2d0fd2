/**
 * The build's last step: `node dist/src/engine/embedded/make-template.js`. Does nothing when the template is there.
 */
import { makeTemplate } from './database-template.js';

await makeTemplate();
