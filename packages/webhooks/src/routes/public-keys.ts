import { Type } from '@sinclair/typebox'
import { errorResponses } from '@svc/core/internal'
import { tags, type Api } from './management.ts'

const PublicKeys = Type.Object({
  keys: Type.Array(
    Type.String({ description: '`whpk_` and the base64 of an ed25519 public key.' }),
  ),
})

/** Public: receivers verify deliveries with these keys, and the keys cannot sign. */
export function publicKeyRoutes(api: Api, keys: string[]): void {
  api.get(
    '/public-keys',
    {
      config: { public: true },
      schema: {
        tags,
        summary: 'The public keys that verify the ed25519 signatures of deliveries',
        response: { 200: PublicKeys, ...errorResponses },
      },
    },
    () => ({ keys }),
  )
}
