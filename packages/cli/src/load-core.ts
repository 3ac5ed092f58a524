import type * as Core from '@svc/core/internal'

/** For the verbs that use a database. The others start in half of the time without it. */
export const loadCore = (): Promise<typeof Core> => import('@svc/core/internal')
