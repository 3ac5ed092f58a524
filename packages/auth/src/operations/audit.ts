import { Type } from '@sinclair/typebox'
import { AuditEntry, AuditQuery, listAudit, narrowedReach } from '@svc/core/internal'
import { operation, reachOfCall, type OperationContext } from './context.ts'

/** Changes within the caller's reach, newest first. */
export const auditOperations = ({ readDb }: OperationContext) => ({
  listAudit: operation({
    input: AuditQuery,
    output: Type.Array(AuditEntry),
    routes: {
      'GET /audit': {
        limit: 1000,
        summary: 'List the changes of users, keys and webhooks, newest first',
        config: { scopes: ['audit:read'] },
      },
    },
    async run(by, { tenant, ...query }) {
      const reach = narrowedReach(reachOfCall(by), tenant)
      return reach === undefined ? [] : listAudit(readDb, reach, query)
    },
  }),
})
