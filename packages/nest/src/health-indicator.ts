import type { Health } from '@svc/core'
import type { SvcService } from './svc-service.ts'

/** The result of a health indicator, as `@nestjs/terminus` takes it. */
export type SvcHealthResult<Key extends string = string> = Record<
  Key,
  { status: 'up' | 'down' } & Pick<Health, 'database' | 'listener' | 'tasks'>
>

/** For `HealthCheckService.check` of `@nestjs/terminus`. */
export class SvcHealthIndicator {
  #svc: Pick<SvcService, 'health'>

  constructor(svc: Pick<SvcService, 'health'>) {
    this.#svc = svc
  }

  /** Whether this process can do its work, as `svc.health` says. Answers within two seconds, never rejects. */
  async isHealthy<const Key extends string>(key: Key): Promise<SvcHealthResult<Key>> {
    const { ok, database, listener, tasks } = await this.#svc.health()
    const result = { status: ok ? ('up' as const) : ('down' as const), database, listener, tasks }
    return { [key]: result } as SvcHealthResult<Key>
  }
}
