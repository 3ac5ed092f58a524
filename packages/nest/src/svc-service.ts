import type { Svc } from '@svc/core'

// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the fields are those of `svc`
export interface SvcService extends Svc {}

/**
 * `fastify.svc` as a provider: `events`, `transaction`, `auth`, `webhooks` and all other fields. With
 * NestFactory they are there when it is injected; with `createNestApplication` of `@nestjs/testing`,
 * which makes the application after its providers, from `onModuleInit` on.
 */
export class SvcService {}
