import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'

/** A host in a process of its own. Resolves when it is ready. */
export async function startWorkerChild(t: Test, database: string): Promise<{ kill(): void }> {
  const child = fork(new URL('../../support/worker-process.ts', import.meta.url), [database, '5'])
  t.teardown(() => void child.kill('SIGKILL'))
  await once(child, 'message')
  return { kill: () => void child.kill('SIGKILL') }
}
