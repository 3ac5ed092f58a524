import { createError } from '@svc/core/internal'

/** The application has no HTTP adapter, or one that is not Nest's FastifyAdapter. Thrown at boot. */
export const NotOnFastify = createError(
  'SVC_NEST_NOT_ON_FASTIFY',
  'SvcModule: the application has no FastifyAdapter: create it with NestFactory.create(AppModule, new FastifyAdapter())',
  500,
)
