/** What a process has used up since it started. */
export interface Usage {
  cpuMicroseconds: number
  rssMegabytes: number
  heapMegabytes: number
}

/** All its threads count, so the compiler and the garbage collector do too. */
export function usageOfThisProcess(): Usage {
  const { user, system } = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  return {
    cpuMicroseconds: user + system,
    rssMegabytes: rss / 2 ** 20,
    heapMegabytes: heapUsed / 2 ** 20,
  }
}
