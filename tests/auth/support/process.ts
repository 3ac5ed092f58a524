/** A host in a process of its own: see host-process.ts. */
import type { Test } from 'tap'
import { startChild } from '../../core/support/child.ts'
import { until } from '../../support/until.ts'

export async function startProcess(t: Test, database: string) {
  const child = startChild(t, '../../auth/support/host-process.ts', database)
  const port = Number(await until(() => child.lines[0]))
  return { child, port }
}
