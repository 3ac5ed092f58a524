// promise: A method of `svc.auth` or `svc.webhooks`, its named action and its routes return the same, and refuse the same
/** Each operation through all of its doors: its method, its named action and its routes are one function. */
import t from 'tap'
import {
  AUTH,
  BOOTSTRAP_KEY,
  makers,
  startHost,
  UNKNOWN,
  WEBHOOKS,
  WITHOUT_METHOD,
  type Host,
  type Row,
} from '../support/operations.ts'

/** What came of it, without what differs each time; a refusal does not say which part of the request it was in. */
const comparable = (outcome: unknown): unknown =>
  JSON.parse(
    JSON.stringify(outcome ?? null)
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, '<id>')
      .replaceAll(/20\d\d-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/ada-[\d-]+@/g, '<email>@')
      .replaceAll(/"(key|keyPrefix|secret)":"[^"]+"/g, '"$1":"<secret>"')
      .replaceAll(/"durationMs":\d+/g, '"durationMs":0')
      // Of the first delivery, which makes a connection.
      .replaceAll(/,"phases":\[[^\]]*\]|,"address":"[^"]*"/g, '')
      .replaceAll(/"X-Svc-(Signature|Timestamp)":"[^"]+"/g, '"X-Svc-$1":"<of its time>"')
      .replace(/"message":"(input|body|querystring|params)\b/, '"message":"input'),
  )

async function called(call: () => Promise<unknown>): Promise<unknown> {
  return comparable(
    await call().catch(({ code, statusCode, message }) => ({
      refused: { code, statusCode, message },
    })),
  )
}

/** Fields in the query of a route that takes a body say nothing. */
const VAIN = '?label=x&scopes=admin&tenant=evil&active=false&cost=0&event=no&url=x&overlapSeconds=1'

async function requested({ app }: Host, [route, body]: [string, object?]): Promise<unknown> {
  const [method, path] = route.split(' ') as ['GET', string]
  const url = method === 'GET' ? path : `${path}${VAIN}`
  const headers = { 'x-api-key': BOOTSTRAP_KEY }
  const reply = await app.inject({ method, url, headers, ...(body && { payload: body }) })
  const answer = reply.body === '' ? null : reply.json()
  const { code, statusCode, message } = answer ?? {}
  return comparable(reply.statusCode < 400 ? answer : { refused: { code, statusCode, message } })
}

for (const [service, rows] of [
  ['auth', AUTH],
  ['webhooks', WEBHOOKS],
] as const) {
  t.test(`the doors of each operation of svc.${service} are one function`, async (t) => {
    const host = await startHost(t)
    const make = makers(host, 'acme')
    const { actions, [service]: methods } = host.app.svc as never as {
      actions: {
        names: () => string[]
        call: (name: string, ...args: unknown[]) => Promise<unknown>
      }
    } & Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>
    const prefix = `__svc.${service}.`
    const named = actions.names().filter((name) => name.startsWith(prefix))
    const names = Object.keys(rows).map((name) => prefix + name)
    t.same(named.toSorted(), names.toSorted(), 'there is an action for each method')
    await make.key()
    await make.webhook()
    for (const [name, { of, asked, refused }] of Object.entries<Row>(rows)) {
      const given = async () => asked({ ...UNKNOWN, ...(of && (await make[of]())) })
      for (const [kind, ask] of [
        ['given', given],
        ['refused', () => refused],
      ] as const) {
        // A method can be taken out of its object.
        const { [name]: method } = methods!
        const byMethod = await called(async () => method!(...(await ask())[0]))
        const byAction = await called(async () => actions.call(prefix + name, ...(await ask())[0]))
        t.strictSame(byAction, byMethod, `${name}, ${kind}, as an action`)
        const [, ...requests] = await ask()
        for (const index of requests.keys()) {
          const [, ...fresh] = await ask()
          const { [index]: request } = fresh
          const answer = await requested(host, request!)
          t.strictSame(answer, byMethod, `${name}, ${kind}, by ${request![0]}`)
        }
      }
    }
  })
}

t.test('each route is a door of an operation', async (t) => {
  const { routes } = await startHost(t)
  const isKnown = new Set(Object.keys(WITHOUT_METHOD))
  for (const { asked } of [...Object.values(AUTH), ...Object.values(WEBHOOKS)]) {
    for (const [route] of asked(UNKNOWN).slice(1) as [route: string][]) {
      const [method = '', url = ''] = route.split('?')[0]!.split(' ')
      const found = routes.find((one) => matches(one, method, url))
      if (found !== undefined) isKnown.add(found)
    }
  }
  t.strictSame(
    [...new Set(routes)].filter((route) => !isKnown.has(route)),
    [],
  )
})

/** A fixed path before one with a parameter, as the router has it. */
function matches(route: string, method: string, url: string): boolean {
  const [of = '', pattern = ''] = route.split(' ')
  const id = '[0-9a-f]{8}-[0-9a-f-]{27}'
  return (
    of === method &&
    new RegExp(`^${pattern.replace(':source', '\\w+').replaceAll(/:\w+/g, id)}$`).test(url)
  )
}
