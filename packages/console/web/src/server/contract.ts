/** The shapes that page and server share. */
export type * from '../../../src/contract.ts'
