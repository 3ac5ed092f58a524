/** What the hosts of a database have told it of their options. */
import type { Db } from '../postgres/transaction.ts'

/** So that a process that boots for a moment, such as a command, declares what the hosts have declared. */
export interface DeclaredOptions {
  /** `svcCore({ application })`; `null` where no host has a name. */
  application: string | null
  /** `svcWebhooks({ allowedEvents })`, of all hosts. */
  allowedEvents: string[]
  /** The longest of each setting in days, such as `eventRetentionDays`. */
  days: Record<string, number>
}

/** The tables of core must exist. */
export async function declaredOptions(db: Db): Promise<DeclaredOptions> {
  const { rows } = await db.query(
    `select (select name from svc."__svc.applications" order by since limit 1) as application,
            array(select event_name from svc."__svc.subscriptions"
                   where subscription = '__svc.webhooks' and not starts_with(event_name, 'svc.')
                   order by event_name) as "allowedEvents",
            coalesce((
              select json_object_agg(name, longest)
                from (select setting.key as name, max(setting.value::int) as longest
                        from svc."__svc.processes" as process,
                             jsonb_each_text(process.declares -> 'days') as setting
                       group by 1) as settings), '{}') as days`,
  )
  return rows[0] as DeclaredOptions
}
