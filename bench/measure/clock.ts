/** Milliseconds on a clock that all processes of the machine share and nobody sets. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6

/** Waits until a moment of that clock, or goes on at once where it has passed. */
export const until = (moment: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, moment - now()))
  })
