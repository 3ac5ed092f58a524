import { Type } from '@sinclair/typebox'
import { page, pageQuery } from '@svc/core/internal'
import type { Webhooks } from '../operations/webhooks.ts'
import {
  NewWebhook,
  orNull,
  Rotation,
  Webhook,
  WebhookChanges,
  WebhookWithSecret,
} from '../schemas.ts'
import { errors, managed, Params, tags, type Api } from './management.ts'
import { describeDeliveries } from './openapi.ts'

export function serveRegistrations(api: Api, webhooks: Webhooks): void {
  api.post(
    '',
    {
      config: managed({ swaggerTransform: describeDeliveries }),
      schema: {
        tags,
        summary: 'Register a webhook',
        body: NewWebhook,
        response: { 201: WebhookWithSecret, ...errors },
      },
    },
    async ({ body }, reply) => reply.code(201).send(await webhooks.register(body)),
  )

  api.get(
    '',
    {
      config: managed(),
      schema: {
        tags,
        summary: 'List webhooks, newest first',
        querystring: pageQuery(1000),
        response: { 200: Type.Array(Webhook), ...errors },
      },
    },
    async (request, reply) => {
      const { limit, after } = request.query
      const rows = await webhooks.list({ limit: limit + 1, ...(after && { after }) })
      return page(request, reply, rows, limit)
    },
  )

  api.get(
    '/:id',
    {
      config: managed(),
      schema: {
        tags,
        summary: 'Get a webhook with its secret',
        params: Params,
        response: { 200: WebhookWithSecret, ...errors },
      },
    },
    async ({ params }) => await webhooks.get(params.id),
  )

  api.patch(
    '/:id',
    {
      config: managed(),
      schema: {
        tags,
        summary: 'Change a webhook, pause it or resume it',
        params: Params,
        body: orNull(WebhookChanges),
        response: { 200: Webhook, ...errors },
      },
    },
    async ({ params, body }) => await webhooks.update(params.id, body ?? {}),
  )

  api.delete(
    '/:id',
    {
      config: managed(),
      schema: {
        tags,
        summary: 'Delete a webhook; its waiting deliveries are dropped',
        params: Params,
        response: { 204: Type.Null(), ...errors },
      },
    },
    async ({ params }, reply) => {
      await webhooks.remove(params.id)
      return reply.code(204).send(null)
    },
  )

  api.post(
    '/:id/rotate-secret',
    {
      config: managed(),
      schema: {
        tags,
        summary: 'Make a new secret; the old one signs along for a while',
        params: Params,
        body: orNull(Rotation),
        response: { 200: WebhookWithSecret, ...errors },
      },
    },
    async ({ params, body }) => await webhooks.rotateSecret({ ...body, id: params.id }),
  )
}
