/** A promise that a test settles: Node 20 has no `Promise.withResolvers`. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<T>((settle, refuse) => {
    [resolve, reject] = [settle, refuse];
  });
  return { promise, resolve, reject };
}
