/** What the console shows while the demo stays up: a dozen webhooks, some of which fail, and traffic. */
import { Type } from '@sinclair/typebox'
import { defineEvents } from '@svc/core'
import type { Host } from './host.ts'
import type { ReceiverProcess } from './receiver-process.ts'

/** The receiver's paths of these webhooks begin with it; what comes there is not printed. */
export const LIFE = '/life/'

const Money = Type.Object({ id: Type.Integer(), total: Type.Number(), currency: Type.String() })

export const lifeEvents = defineEvents({
  'invoice.paid': {
    payload: Money,
    description: 'The whole sum of an invoice has arrived.',
    example: { id: 42, total: 129.5, currency: 'EUR' },
  },
  'customer.updated': {
    payload: Type.Object({ id: Type.Integer(), name: Type.String() }),
    description: 'A customer changed name or address.',
    example: { id: 7, name: 'Ada Lovelace' },
  },
  'stock.low': {
    payload: Type.Object({ sku: Type.String(), left: Type.Integer() }),
    description: 'Fewer pieces are left than are sold in a day.',
    example: { sku: 'TEA-1', left: 3 },
  },
})

const TENANTS = ['acme', 'globex', 'initech']

/** Label, tenant, events; `broken` is a receiver that does not know the secret, and answers 401. */
const WEBHOOKS = [
  ['Accounting', null, ['invoice.paid']],
  ['Warehouse Hamburg', null, ['stock.low']],
  ['Data lake', null, ['*']],
  ['Acme CRM', 'acme', ['customer.updated']],
  ['Acme ERP', 'acme', ['invoice.paid', 'stock.low']],
  ['Acme, old shop', 'acme', ['invoice.paid'], 'broken'],
  ['Globex reporting', 'globex', ['*']],
  ['Globex mailer', 'globex', ['customer.updated'], 'broken'],
  ['Initech mirror', 'initech', ['*']],
] as const

const EVERY_MS = 900

/** Returns what ends the traffic. */
export async function bringToLife(
  { app, url }: Host,
  receiver: ReceiverProcess,
): Promise<() => void> {
  const { auth, webhooks } = app.svc
  for (const [index, [label, tenant, events, broken]] of WEBHOOKS.entries()) {
    const path = `${LIFE}${index}`
    const filter = label === 'Accounting' ? { 'payload.total': { $gte: 100 } } : null
    const { secret } = await webhooks.register({
      url: receiver.url + path,
      label,
      events: [...events],
      filter,
      ...(tenant && { tenant }),
    })
    if (!broken) receiver.trust(path, secret)
  }
  const keys: string[] = []
  for (const tenant of TENANTS) {
    const user = await auth.createUser({
      email: `ops@${tenant}.example`,
      name: `Ops, ${tenant}`,
      tenant,
    })
    const scopes = ['orders:read']
    const { key } = await auth.createApiKey({ userId: user.id, label: `${tenant} sync`, scopes })
    keys.push(key)
    await auth.createApiKey({ userId: user.id, label: `${tenant}, unused`, scopes })
  }
  let round = 0
  const timer = setInterval(() => {
    const key = keys[round % keys.length]!
    void Promise.allSettled([
      publishOne(app, round++),
      fetch(`${url}/orders`, { headers: { 'x-api-key': key } }),
    ])
  }, EVERY_MS)
  return () => clearInterval(timer)
}

async function publishOne({ svc }: Host['app'], round: number): Promise<void> {
  const tenant = TENANTS[round % TENANTS.length]!
  const id = 1000 + round
  const [name, payload] = [
    ['invoice.paid', { id, total: (id * 37) % 400, currency: 'EUR' }],
    ['customer.updated', { id, name: 'Grace Hopper' }],
    ['stock.low', { sku: `TEA-${id % 9}`, left: id % 5 }],
  ][Math.floor(round / 2) % 3] as [string, object]
  await svc.events.publish(name, payload, { tenant })
}
