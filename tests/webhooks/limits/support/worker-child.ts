import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { RecoverInput, RecoverResult } from '@svc/webhooks'
import type { Test } from 'tap'

export interface WorkerChild {
  kill(): void
  recover(asked: RecoverInput): Promise<RecoverResult>
}

/** A host in a process of its own. Resolves when it is ready. */
export async function startWorkerChild(t: Test, database: string): Promise<WorkerChild> {
  const child = fork(new URL('../../support/worker-process.ts', import.meta.url), [database, '5'])
  t.teardown(() => void child.kill('SIGKILL'))
  await once(child, 'message')
  return {
    kill: () => void child.kill('SIGKILL'),
    async recover(asked) {
      child.send(asked)
      const [result] = await once(child, 'message')
      return result as RecoverResult
    },
  }
}
