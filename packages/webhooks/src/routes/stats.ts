import { errorResponses } from '@svc/core/internal'
import { callerOf } from '../operations/caller.ts'
import type { ReadStats } from '../operations/stats.ts'
import { Stats, StatsQuery } from '../stats-schemas.ts'
import { config, tags, type Api } from './management.ts'

export function statsRoutes(api: Api, readStats: ReadStats): void {
  api.get(
    '/stats',
    {
      config,
      schema: {
        tags,
        summary: 'Count attempts and deliveries by the minute, hour or day, with their latencies',
        querystring: StatsQuery,
        response: { 200: Stats, ...errorResponses },
      },
    },
    (request) => readStats(request.query, callerOf(request)),
  )
}
