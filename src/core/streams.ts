/**
 * The streams of a process as commands see them. Which they are is the root's.
 */

/** What a command may touch of its process. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream & { isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
}
