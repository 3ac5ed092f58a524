// All packages and their errors in one host; nothing that they export has the type `any`: checked by
// `tsc`, never run.
import type * as auth from '@svc/auth'
import { svcAuth, UserNotFound, type SvcAuthOptions } from '@svc/auth'
import type * as core from '@svc/core'
import { DatabaseUnreachable, InvalidOption, svcCore, type Jobs, type Svc } from '@svc/core'
import type * as webhooks from '@svc/webhooks'
import { hmac, svcWebhooks, type SvcWebhooksOptions } from '@svc/webhooks'
import type * as receiver from '@svc/receiver'
import type * as sameReceiver from '@svc/webhooks/receiver'
import type * as providerExports from '@svc/webhooks/providers'
import { providers } from '@svc/webhooks/providers'
import type * as providersAlone from '@svc/providers'
import type * as testing from '@svc/testing'
import Fastify, { type FastifyError } from 'fastify'

type IsAny<T> = 0 extends 1 & T ? true : false
/** The exports whose type is `any`, or whose instances are `any`. */
type Untyped<Exports> = {
  [Name in keyof Exports]: IsAny<Exports[Name]> extends true
    ? Name
    : Exports[Name] extends abstract new (...args: never[]) => infer Instance
      ? IsAny<Instance> extends true
        ? Name
        : never
      : never
}[keyof Exports]
type None<Names> = [Names] extends [never] ? true : Names

const typed: [
  None<Untyped<typeof auth>>,
  None<Untyped<typeof core>>,
  None<Untyped<typeof webhooks>>,
  None<Untyped<typeof receiver>>,
  None<Untyped<typeof providerExports>>,
  None<Untyped<typeof providersAlone>>,
  None<Untyped<typeof testing>>,
  typeof receiver extends typeof sameReceiver ? true : false,
  None<Untyped<Svc>>,
  IsAny<Awaited<ReturnType<Jobs['send']>>>,
] = [true, true, true, true, true, true, true, true, true, false]

const authOptions: SvcAuthOptions = { bootstrapKeySecret: 'BOOTSTRAP_KEY' }
const webhooksOptions: SvcWebhooksOptions = {
  allowedEvents: ['order.created'],
  inbound: {
    github: {
      path: '/hooks/github',
      publishAs: 'github.push',
      verify: hmac({ signatureHeader: 'x-hub-signature-256', secretName: 'GITHUB_SECRET' }),
      deduplicationKey: (request) => request.headers['x-github-delivery'] ?? null,
    },
    stripe: providers.stripe({ path: '/hooks/stripe', secretName: 'STRIPE_SECRET' }),
  },
}

const app = Fastify()
await app.register(svcCore, { worker: { maxAttempts: 12 } })
await app.register(svcAuth, authOptions)
await app.register(svcWebhooks, webhooksOptions)

const jobId: string | null = await app.svc.jobs.send('reports', { month: 11 }, { priority: 1 })
for (const job of await app.svc.jobs.fetch<{ month: number }>('reports')) {
  const month: number = job.data.month
  app.log.info({ month })
}
app.svc.jobs.on('error', (error) => app.log.error(error.message))
// @ts-expect-error -- no such option
await app.svc.jobs.send('reports', {}, { prioritiy: 1 })

const { rows } = await app.svc.database.query<{ n: number }>('select 1 as n')
const first: number | undefined = rows[0]?.n

try {
  await app.svc.actions.call('__svc.auth.getUser', 'id')
} catch (error) {
  if (error instanceof UserNotFound) {
    const known: FastifyError = error
    app.log.info({ code: known.code, statusCode: error.statusCode })
    // @ts-expect-error -- an error has no such field
    app.log.info(error.nonsense)
  }
}
const thrown = [new UserNotFound(), new InvalidOption('what is wrong'), new DatabaseUnreachable('')]
const codes: string[] = thrown.map(({ code }) => code)
// @ts-expect-error -- the text that the message names
void new InvalidOption(5)

export { codes, first, jobId, typed }
