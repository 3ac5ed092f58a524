import type { Received } from '../../support/receiver.ts'

/** The `n` of each payload. */
export const numbersOf = (requests: readonly Received[]): number[] =>
  requests.map(({ body }) => JSON.parse(body).payload.n as number)

export const upTo = (count: number): number[] => [...Array(count).keys()]
