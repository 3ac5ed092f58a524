import type { RequestPattern } from '../load/load-process.ts'

/** Requests for the guarded route, with these keys in turn. */
export const withKeys = (keys: string[]): RequestPattern => ({
  method: 'GET',
  path: '/',
  variants: keys.map((key) => `authorization: Bearer ${key}`),
})
