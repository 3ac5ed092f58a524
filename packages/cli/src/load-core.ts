/** For the verbs that use a database. The others start in half of the time without it. */
export const loadCore = (): Promise<typeof import('@svc/core/internal')> =>
  import('@svc/core/internal')
