/**
 * `svc.eraseTenant`: deletes what all packages keep of a tenant. It takes many short transactions,
 * so that deliveries of other tenants go on. An interrupted erasure is finished by a second call.
 */
import { eraseChanges, insertAudit } from './audit/audit-table.ts'
import type { AuditOrigin } from './audit/audit-origin.ts'
import { IncompleteHost, InvalidInput } from './errors.ts'
import { idsOfTenant } from './events/event-id.ts'
import { eraseEvents } from './events/events-table.ts'
import { eraseJobs, findQueues } from './jobs/pg-boss/erase-jobs.ts'
import type { Db } from './postgres/transaction.ts'
import { orDatabaseError } from './postgres/unavailable.ts'
import { forgetTenant } from './tenant-list.ts'
import { isTenant, TENANT } from './tenants/tenants.ts'

/** How many rows were deleted, by kind: `users`, `keys`, `webhooks`, `events`, `jobs`, … */
export type ErasedRows = Record<string, number>

/** What one package keeps of tenants. */
export interface TenantPart {
  /** Ends what would make new rows: the keys, the webhooks. It is called before anything is erased. */
  close?(tenant: string): Promise<void>
  /**
   * Deletes, in portions. The rows that identify other rows as the tenant's are deleted last, so
   * that a second call finds what is left. The jobs of the tenant's events are deleted already.
   */
  erase(tenant: string): Promise<ErasedRows>
}

interface Log {
  info(details: object, message: string): void
}

export class TenantErasure {
  #db: Db
  #owners: ReadonlySet<string>
  #log: Log
  #parts: TenantPart[] = []

  /**
   * `db`: with time for statements that read much. `owners`: the packages that run in this host, by the
   * names of their migrations.
   */
  constructor(db: Db, owners: ReadonlySet<string>, log: Log) {
    this.#db = db
    this.#owners = owners
    this.#log = log
  }

  add(part: TenantPart): void {
    this.#parts.push(part)
  }

  /** @throws InvalidInput, IncompleteHost, Unavailable */
  async run(tenant: string, by: AuditOrigin): Promise<ErasedRows> {
    if (!isTenant(tenant)) {
      throw new InvalidInput(`svc.eraseTenant: the tenant must be a text of ${TENANT}`)
    }
    return orDatabaseError(this.#erase(tenant, by))
  }

  async #erase(tenant: string, by: AuditOrigin): Promise<ErasedRows> {
    const owners = await findMigrationOwners(this.#db)
    this.#assertComplete(owners)
    this.#log.info({ tenant }, 'erasing a tenant')
    // Before the others, so that no session makes rows meanwhile.
    const byFunctions = await this.#eraseByFunctions(owners, tenant)
    for (const part of this.#parts) await part.close?.(tenant)
    const erased = await this.#eraseJobs(tenant)
    for (const part of this.#parts) add(erased, await part.erase(tenant))
    add(erased, byFunctions)
    // Once more: a session may have begun as the first call ran.
    add(erased, await this.#eraseByFunctions(owners, tenant))
    add(erased, { events: await eraseEvents(this.#db, tenant) })
    await eraseChanges(this.#db, tenant)
    await forgetTenant(this.#db, tenant)
    const target = { kind: 'tenant', id: tenant } as const
    await insertAudit(this.#db, by, [{ tenant, action: 'tenant.erased', target, changes: null }])
    this.#log.info({ tenant, erased }, 'tenant erased')
    return erased
  }

  async #eraseByFunctions(owners: readonly MigrationOwner[], tenant: string): Promise<ErasedRows> {
    const erased: ErasedRows = {}
    for (const { eraseTenant } of owners) {
      if (eraseTenant === null) continue
      // Postgres has quoted the name itself.
      const { rows } = await this.#db.query(`select kind, erased::int from ${eraseTenant}($1)`, [
        tenant,
      ])
      for (const { kind, erased: count } of rows) add(erased, { [kind]: count })
    }
    return erased
  }

  /** First: an attempt that ends without its job writes no row. */
  async #eraseJobs(tenant: string): Promise<ErasedRows> {
    const which = { eventIdPrefix: idsOfTenant(tenant).from, recipients: [] }
    const erased = { jobs: 0, deadLetters: 0 }
    for (const queue of await findQueues(this.#db)) {
      const kind = queue.endsWith('.dlq') ? 'deadLetters' : 'jobs'
      erased[kind] += await eraseJobs(this.#db, queue, which)
    }
    return erased
  }

  /**
   * Rows of a package that is not registered, and has no function for it in the database, would
   * stay.
   */
  #assertComplete(owners: readonly MigrationOwner[]): void {
    const missing = owners.filter(
      ({ name, eraseTenant }) => eraseTenant === null && !this.#owners.has(name),
    )
    if (missing.length > 0) throw new IncompleteHost(missing.map(({ name }) => name).join(', '))
  }
}

function add(sums: ErasedRows, counts: ErasedRows): void {
  for (const [kind, count] of Object.entries(counts)) sums[kind] = (sums[kind] ?? 0) + count
}

/** A package that has tables in this database. */
interface MigrationOwner {
  name: string
  /** Its function that deletes what it keeps of a tenant, where it has one. */
  eraseTenant: string | null
}

async function findMigrationOwners(db: Db): Promise<MigrationOwner[]> {
  const { rows } = await db.query(
    `select name, to_regproc(function)::text as "eraseTenant"
       from (select distinct owner as name,
                    format('svc.%I', '__svc.' || split_part(owner, '/', 2) || '.erase_tenant') as function
               from svc."__svc.migrations") as owners
      order by name`,
  )
  return rows
}
