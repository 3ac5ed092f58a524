/** What `svc.eraseTenant` deletes of webhooks that are deleted, and that the audit no longer names. */
import t from 'tap'
import { openReceiver } from '../../support/receiver.ts'
import { emptyDatabase } from '../../support/fresh-database.ts'
import { untilCount } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

t.test('the log of a webhook that was deleted long ago is erased with its tenant', async (t) => {
  const receiver = await openReceiver(t)
  // One without the tables of @svc/auth, which this host has not registered.
  const { app } = await startHost(t, { database: await emptyDatabase(t) })
  const { webhooks, database } = app.svc
  const { id } = await webhooks.register({ url: receiver.url, events: ['*'], tenant: 'acme' })
  await webhooks.test(id)
  await untilCount(1, () => webhooks.listDeliveries({ tenant: 'acme' }))
  await webhooks.delete(id)
  // Rows of the audit may be deleted before those of the log.
  await database.query('delete from svc."__svc.audit"')
  await app.svc.eraseTenant('acme')
  t.strictSame(await webhooks.listDeliveries(), [])
})
