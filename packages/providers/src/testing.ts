/** `@svc/providers/testing`: requests of providers, signed as they sign them, for tests. */
export { signed, type SignedOptions, type SignedRequest } from './testing/signed-request.ts'
