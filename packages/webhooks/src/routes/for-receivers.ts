/** What receivers ask without an API key: public keys, and the addresses that deliveries come from. */
import { createHash } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { errorResponses, uuidOf } from '@svc/core/internal'
import { NoEgressAddresses, NoPublicKeys } from '../errors.ts'
import type { SigningKeys } from '../outbound/delivery/ed25519.ts'
import type { Api } from './management.ts'

const Query = Type.Object(
  { webhookId: Type.String({ minLength: 1, description: 'Id of the webhook.' }) },
  { additionalProperties: false },
)

const PublicKeys = Type.Object({
  keys: Type.Array(
    Type.String({ description: '`whpk_` and the base64 of an ed25519 public key.' }),
  ),
})

const Jwks = Type.Object({
  keys: Type.Array(
    Type.Object({
      kty: Type.Literal('OKP'),
      crv: Type.Literal('Ed25519'),
      x: Type.String({ description: 'The public key, as base64url.' }),
      use: Type.Literal('sig'),
      alg: Type.Literal('EdDSA'),
      kid: Type.String({ description: 'The thumbprint of the key, RFC 7638.' }),
    }),
  ),
})

/**
 * Public: receivers verify deliveries with these keys, and the keys cannot sign. The keys of an id are
 * derived and not looked up: an answer does not tell whether there is such a webhook, and costs no
 * statement.
 */
export function publicKeyRoutes(api: Api, keys: SigningKeys): void {
  const keysOf = (given: string): string[] => {
    const id = uuidOf(given)
    if (id === undefined) throw new NoPublicKeys('webhookId is not the id of a webhook')
    return keys.derive(id).map(({ publicKey }) => publicKey)
  }

  api.get(
    '/public-keys',
    {
      config: { public: true },
      schema: {
        tags: ['webhooks'],
        summary:
          'The public keys that verify the ed25519 signatures of the deliveries of a webhook',
        querystring: Query,
        response: { 200: PublicKeys, ...errorResponses },
      },
    },
    ({ query }) => ({ keys: keysOf(query.webhookId) }),
  )

  api.get(
    '/jwks.json',
    {
      config: { public: true },
      schema: {
        tags: ['webhooks'],
        summary: 'The same keys as a JSON Web Key Set',
        querystring: Query,
        response: { 200: Jwks, ...errorResponses },
      },
    },
    ({ query }) => ({ keys: keysOf(query.webhookId).map(jwkOf) }),
  )
}

/** Without the option. As open as with it: where all paths are guarded, a 401 would ask for a key. */
export function noPublicKeyRoutes(api: Api): void {
  for (const path of ['/public-keys', '/jwks.json']) {
    const schema = { hide: true, response: errorResponses }
    api.get(path, { config: { public: true }, schema }, () => {
      throw new NoPublicKeys('this host does not sign with ed25519')
    })
  }
}

/** `addresses`: the option `egressAddresses`; `null` without it, which is a 404. */
export function egressRoute(api: Api, addresses: readonly string[] | null): void {
  const schema = {
    tags: ['webhooks'],
    summary: 'The addresses that deliveries come from',
    hide: addresses === null,
    response: {
      200: Type.Object({
        addresses: Type.Array(Type.String({ description: 'An address or a CIDR.' })),
      }),
      ...errorResponses,
    },
  }
  api.get('/egress', { config: { public: true }, schema }, () => {
    if (addresses === null) throw new NoEgressAddresses()
    return { addresses: [...addresses] }
  })
}

function jwkOf(publicKey: string) {
  const x = Buffer.from(publicKey.slice('whpk_'.length), 'base64').toString('base64url')
  const [kty, crv] = ['OKP', 'Ed25519'] as const
  // RFC 7638, section 3: the required members in the order of their names (RFC 8037, section 2).
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url')
  return { kty, crv, x, use: 'sig', alg: 'EdDSA', kid } as const
}
