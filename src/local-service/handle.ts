/**
 * The shape of the local service: a request in, a response out, no socket anywhere. The HTTP adapter serves it, the
 * client may be handed it in process, and faults are put around it.
 *
 * What the service answers is in `create-service.ts`.
 */

export interface ServiceRequest {
  readonly method: string;
  /** Path with query, as on the request line. */
  readonly path: string;
  /** The `Authorization` header as sent. */
  readonly authorization: string | undefined;
}

export interface ServiceResponse {
  readonly status: number;
  /** Lower-case names; always `content-type`, `content-length` and `date`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for HEAD, where `content-length` is what GET would have sent. */
  readonly body: Buffer;
  /**
   * Set by faults only: where the connection breaks off. `before-headers`: nothing of the answer arrives;
   * `in-body`: headers and `body` arrive, which is shorter than `content-length`.
   */
  readonly cut?: 'before-headers' | 'in-body';
}

export interface Service {
  /** Never rejects for anything that a request says; every request has an answer. */
  handle(request: ServiceRequest): ServiceResponse | Promise<ServiceResponse>;
  /** Everything metered is on disk when this resolves. Safe to call twice. */
  close(): Promise<void>;
}
