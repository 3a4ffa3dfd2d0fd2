import { connect } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { listenForTest } from './listen-anew.js';

/**
 * A company's own authority, and a server certificate that it signed: for api.test, hooks.test,
 * logos.test, proxy.test, localhost and 127.0.0.1, until 2123. No machine trusts it by default.
 */
export const COMPANY_CA = `-----BEGIN CERTIFICATE-----
MIIBizCCATGgAwIBAgIUFQvMHqrLCWwoO6SI/38Rh2b9tyEwCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPQ29tcGFueSBUZXN0IENBMCAXDTI0MDEwMTAwMDAwMFoYDzIx
MjMxMjA4MDAwMDAwWjAaMRgwFgYDVQQDDA9Db21wYW55IFRlc3QgQ0EwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAAQv5U/5BkxC3XaMHT8CZusmDShQk+NfkppX05+j
nKxtCVOEUbjbe5C+WHr86OSeVZnrFj0JB5wXijVsBUmBCb73o1MwUTAdBgNVHQ4E
FgQUuMsBKl6hlRBTYMn4vdTzZUFpjk8wHwYDVR0jBBgwFoAUuMsBKl6hlRBTYMn4
vdTzZUFpjk8wDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEApzos
/wOuA/OgstT1DxhaW1f2d8SW1QEX7z0HKEL7LjUCIHC/2miTeVIx2cPiOneAT5Iq
QTkA3q6FpZ5HreL/nDqr
-----END CERTIFICATE-----
`;

export const COMPANY_TLS = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVjW1gbxpumnRb09X
GTHRoyrhpS7gzXlUACwfVv1veRShRANCAAQo+kHTLWtUxGUxCinsuzzoa+Nv/565
Tg443tRrTGCRgV1yT6H0mnT0lT0l46FwSGT/FOzRYRnvgV4N5oHGv1hr
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBvzCCAWWgAwIBAgIUcPUFfSuO/mLvHHSiAmjZ5QGbqnwwCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPQ29tcGFueSBUZXN0IENBMCAXDTI0MDEwMTAwMDAwMFoYDzIx
MjMxMjA4MDAwMDAwWjATMREwDwYDVQQDDAhhcGkudGVzdDBZMBMGByqGSM49AgEG
CCqGSM49AwEHA0IABCj6QdMta1TEZTEKKey7POhr42//nrlODjje1GtMYJGBXXJP
ofSadPSVPSXjoXBIZP8U7NFhGe+BXg3mgca/WGujgY0wgYowSAYDVR0RBEEwP4II
YXBpLnRlc3SCCmhvb2tzLnRlc3SCCmxvZ29zLnRlc3SCCnByb3h5LnRlc3SCCWxv
Y2FsaG9zdIcEfwAAATAdBgNVHQ4EFgQUqSAHaVQiynv9f++9zpCwjRVo4EAwHwYD
VR0jBBgwFoAUuMsBKl6hlRBTYMn4vdTzZUFpjk8wCgYIKoZIzj0EAwIDSAAwRQIh
AKbmJbHMASxZfXTAprEgc3T9HjiJjTL1JupixGl8l7EYAiAsGqphKgN4WRu3/6NU
zJAYWOSh/kZw4vD/JHtFGwrWeg==
-----END CERTIFICATE-----
`,
};

/** Another port with TLS in front of this port, until the test ends. */
export async function inTls(port: number, more: TlsOptions = {}): Promise<number> {
  const server = createServer({ ...COMPANY_TLS, ...more }, (socket) => {
    const service = connect(port, '127.0.0.1');
    for (const each of [socket, service]) each.on('error', () => undefined);
    socket.pipe(service).pipe(socket);
  });
  server.on('tlsClientError', () => undefined);
  return listenForTest(server);
}
