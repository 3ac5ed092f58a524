// Webhooks in: what GitHub sends is verified, taken once, and handled after it was answered.
//   npm install fastify @svc/webhooks
//   DATABASE_URL=postgres://… GITHUB_SECRET=… node webhooks-in.ts
// At GitHub: Settings → Webhooks, the URL https://<your host>/hooks/github, "application/json", and
// the secret above. By hand:
//   body='{ "ref": "refs/heads/main" }'
//   curl localhost:3000/hooks/github -H 'content-type: application/json' -d "$body" \
//     -H 'x-github-delivery: 1' -H "x-hub-signature-256: sha256=$(
//       printf %s "$body" | openssl dgst -sha256 -hmac "$GITHUB_SECRET" | sed 's/.* //')"
import Fastify from 'fastify'
import { hmac, svcWebhooks } from '@svc/webhooks'

interface Push {
  ref: string
}

const app = Fastify({ logger: true })
await app.register(svcWebhooks, {
  allowedEvents: [], // none of our own goes out
  inbound: {
    github: {
      path: '/hooks/github',
      publishAs: 'github.push',
      verify: hmac({
        signatureHeader: 'x-hub-signature-256',
        secretName: 'GITHUB_SECRET', // by default a secret is an environment variable
        prefix: 'sha256=',
      }),
      // A request that GitHub repeats is answered, and not published again.
      deduplicationKey: ({ headers }) => String(headers['x-github-delivery'] ?? '') || null,
    },
  },
})

// GitHub has its 200 already. A throw here means another attempt, also after a restart.
await app.svc.events.subscribe('github.push', async ({ ref }: Push, { id, attempt }) => {
  app.log.info({ eventId: id, attempt, ref }, 'pushed')
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void app.close())
await app.listen({ port: Number(process.env.PORT ?? 3000) })
