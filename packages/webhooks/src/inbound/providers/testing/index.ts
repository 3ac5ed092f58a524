/** `@svc/webhooks/testing`: requests of providers, signed as they sign them, for tests of hosts. */
export { signedRequest, type SignedRequest, type SigningOptions } from './signed-request.ts'
