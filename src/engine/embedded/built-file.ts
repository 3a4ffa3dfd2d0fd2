/**
 * Where the built form of this folder is: Node loads no TypeScript in a thread, and the database template is made
 * by the build.
 */

/** A file beside this module when it is built, or in `dist` when the sources run as they are. */
export function builtFile(name: string): URL {
  const folder = import.meta.url.endsWith('.ts') ? '../../../dist/src/engine/embedded/' : './';
  return new URL(`${folder}${name}`, import.meta.url);
}
