import type { AuditEntry, AuditQuery } from '@svc/core'
import { listAudit, narrowedReach } from '@svc/core/internal'
import { reachOfCall, type OperationCall, type OperationContext } from './context.ts'

export const createAuditOperations = ({ readDb }: OperationContext) => ({
  /** Changes within the caller's reach, newest first. */
  async listAudit({ tenant, ...query }: AuditQuery, call: OperationCall): Promise<AuditEntry[]> {
    const reach = narrowedReach(reachOfCall(call), tenant)
    return reach === undefined ? [] : listAudit(readDb, reach, query)
  },
})
