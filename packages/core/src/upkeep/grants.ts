/** The rights of hosts with `migrate: 'check'`, on what is there and on later tables and partitions. */
import type { Db } from '../postgres/transaction.ts'

/** @throws where there is no such role */
export async function assertRole(db: Db, role: string): Promise<void> {
  const { rows } = await db.query('select from pg_roles where rolname = $1', [role])
  if (rows.length > 0) return
  throw new Error(
    `there is no role "${role}" on this server: create it, or give the name of another one`,
  )
}

/**
 * The statements that give a role these rights, those of them that it lacks. New tables get their rights
 * from the role that makes them, which is this one or the owner of the tables.
 *
 * @throws where there is no such role
 */
export async function lackedGrants(db: Db, role: string): Promise<string[]> {
  await assertRole(db, role)
  const { rows } = await db.query(
    `with schema as (
       select name, to_regnamespace(name) as oid from unnest(array['svc', 'svc_jobs']) as name),
     maker as (
       select current_user::regrole as oid
       union
       select relowner::regrole from pg_class
        where oid = to_regclass('svc."__svc.migrations"') and pg_has_role(relowner, 'usage'))
     select format('grant usage on schema %I to %I', name, $1::text) as statement
       from schema
      where oid is null or not has_schema_privilege($1::text, oid, 'usage')
     union all
     select format('grant select, insert, update, delete on all tables in schema %I to %I', name, $1::text)
       from schema
      where oid is null or exists (
        select from pg_class as class
         where class.relnamespace = schema.oid and class.relkind in ('r', 'p', 'v') and not (
           has_table_privilege($1::text, class.oid, 'select')
           and has_table_privilege($1::text, class.oid, 'insert')
           and has_table_privilege($1::text, class.oid, 'update')
           and has_table_privilege($1::text, class.oid, 'delete')))
     union all
     select format('grant execute on all functions in schema %I to %I', name, $1::text)
       from schema
      where exists (
        select from pg_proc as function
         where function.pronamespace = schema.oid
           and not has_function_privilege($1::text, function.oid, 'execute'))
     union all
     select format(
              'alter default privileges for role %s in schema %I grant select, insert, update, delete on tables to %I',
              maker.oid, name, $1::text)
       from schema cross join maker
      where maker.oid <> (select oid from pg_roles where rolname = $1) and (
            select count(*) from pg_default_acl as acl
             cross join aclexplode(acl.defaclacl) as given
             where acl.defaclrole = maker.oid and acl.defaclnamespace = schema.oid
               and acl.defaclobjtype = 'r'
               and given.grantee = (select oid from pg_roles where rolname = $1)
               and given.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')) < 4`,
    [role],
  )
  return (rows as { statement: string }[]).map(({ statement }) => statement)
}

export async function grantAll(db: Db, role: string): Promise<void> {
  for (const statement of await lackedGrants(db, role)) await db.query(statement)
}
