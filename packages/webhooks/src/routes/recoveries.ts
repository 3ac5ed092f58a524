import { Type } from '@sinclair/typebox'
import { errorResponses, page, pageQuery, TenantFilter } from '@svc/core/internal'
import { callerOf } from '../operations/caller.ts'
import type { RecoveryOperations } from '../operations/recover.ts'
import { RecoverBody, RecoverResult, WebhookRecovery } from '../recovery-schemas.ts'
import { config, Params, tags, type Api } from './management.ts'

const Query = Type.Composite([pageQuery(100), Type.Object({ tenant: TenantFilter })], {
  additionalProperties: false,
})
const RecoveryParams = Type.Object({ ...Params.properties, recoveryId: Type.String() })

export function recoveryRoutes(api: Api, recoveries: RecoveryOperations): void {
  api.post(
    '/:id/recover',
    {
      config,
      schema: {
        tags,
        summary: 'Put deliveries of a span on their way again: dead, failed or missing ones',
        params: Params,
        body: RecoverBody,
        response: { 200: RecoverResult, 202: RecoverResult, ...errorResponses },
      },
    },
    async (request, reply) => {
      const input = { ...request.body, id: request.params.id }
      const result = await recoveries.recover(input, undefined, callerOf(request))
      return reply.code(input.dryRun === true ? 200 : 202).send(result)
    },
  )

  api.get(
    '/:id/recoveries',
    {
      config,
      schema: {
        tags,
        summary: 'List its recoveries, newest first, and how far they are',
        params: Params,
        querystring: Query,
        response: { 200: Type.Array(WebhookRecovery), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { limit } = request.query
      const input = { ...request.query, webhookId: request.params.id, limit: limit + 1 }
      return page(request, reply, await recoveries.list(input, callerOf(request)), limit)
    },
  )

  api.get(
    '/:id/recoveries/:recoveryId',
    {
      config,
      schema: {
        tags,
        summary: 'Say how far a recovery is',
        params: RecoveryParams,
        response: { 200: WebhookRecovery, ...errorResponses },
      },
    },
    async (request) => {
      const { id: webhookId, recoveryId: id } = request.params
      return recoveries.get({ webhookId, id }, callerOf(request))
    },
  )
}
