import type { ReceivedRequest } from '@svc/testing'

/** The `n` of each payload. */
export const numbersOf = (requests: readonly ReceivedRequest[]): number[] =>
  requests.map(({ body }) => body.payload.n as number)

export const upTo = (count: number): number[] => [...Array(count).keys()]
