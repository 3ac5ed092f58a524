import { Type } from '@sinclair/typebox'
import {
  errorResponses,
  narrowedReach,
  optionalBody,
  page,
  pageQuery,
  TenantFilter,
} from '@svc/core/internal'
import { callerOf } from '../operations/caller.ts'
import type { WebhookOperations } from '../operations/webhooks.ts'
import type { DescribedEvent } from '../outbound/described-event.ts'
import {
  NewWebhook,
  RotateSecretBody,
  State,
  Webhook,
  WebhookChanges,
  WebhookWithSecret,
} from '../schemas.ts'
import { config, Params, tags, type Api } from './management.ts'
import { describeDeliveries } from './openapi.ts'

const ListQuery = Type.Composite(
  [pageQuery(1000), Type.Object({ tenant: TenantFilter, state: Type.Optional(State) })],
  { additionalProperties: false },
)

export function webhookRoutes(
  api: Api,
  webhooks: WebhookOperations,
  events: readonly DescribedEvent[],
): void {
  api.post(
    '',
    {
      config: { ...config, swaggerTransform: describeDeliveries(events) },
      schema: {
        tags,
        summary: 'Register a webhook',
        body: NewWebhook,
        response: { 201: WebhookWithSecret, ...errorResponses },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await webhooks.register(request.body, undefined, callerOf(request))),
  )

  api.get(
    '',
    {
      config,
      schema: {
        tags,
        summary: 'List webhooks, newest first',
        querystring: ListQuery,
        response: { 200: Type.Array(Webhook), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { limit, after, tenant, state } = request.query
      const by = callerOf(request)
      const reach = narrowedReach(by.reach, tenant)
      if (reach === undefined) return []
      const within = { ...(state && { state }), ...(reach !== null && { tenant: reach }) }
      const rows = await webhooks.list({ limit: limit + 1, ...(after && { after }), ...within }, by)
      return page(request, reply, rows, limit)
    },
  )

  api.get(
    '/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Get a webhook with its secret',
        params: Params,
        response: { 200: WebhookWithSecret, ...errorResponses },
      },
    },
    async (request) => await webhooks.get(request.params.id, callerOf(request)),
  )

  api.patch(
    '/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Change a webhook, pause it or resume it',
        params: Params,
        body: optionalBody(WebhookChanges),
        response: { 200: Webhook, ...errorResponses },
      },
    },
    async (request) => {
      const { id } = request.params
      return await webhooks.update(id, request.body ?? {}, undefined, callerOf(request))
    },
  )

  api.delete(
    '/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Delete a webhook and its waiting deliveries',
        params: Params,
        response: { 204: Type.Null(), ...errorResponses },
      },
    },
    async (request, reply) => {
      await webhooks.delete(request.params.id, undefined, callerOf(request))
      return reply.code(204).send(null)
    },
  )

  api.post(
    '/:id/rotate-secret',
    {
      config,
      schema: {
        tags,
        summary: 'Make a new secret; for a while deliveries are signed with the old one as well',
        params: Params,
        body: optionalBody(RotateSecretBody),
        response: { 200: WebhookWithSecret, ...errorResponses },
      },
    },
    async (request) => {
      const input = { ...request.body, id: request.params.id }
      return await webhooks.rotateSecret(input, undefined, callerOf(request))
    },
  )
}
