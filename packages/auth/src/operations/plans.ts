/** Which plan a tenant has is the host's; what was remembered of it ends here. */
import { Type } from '@sinclair/typebox'
import { ForeignTenant } from '@svc/core'
import { Nothing, reaches, TENANT_PATTERN } from '@svc/core/internal'
import { tellPlanChanged } from '../tables/key-changes.ts'
import { operation, reachOfCall, type OperationContext } from './context.ts'

export const planOperations = ({ within, forgetPlan }: OperationContext) => ({
  planChanged: operation({
    input: Type.String({ pattern: TENANT_PATTERN }),
    output: Nothing,
    writes: true,
    async run(call, tenant) {
      if (!reaches(reachOfCall(call), tenant)) throw new ForeignTenant()
      await within(call, (tx) => tellPlanChanged(tx, tenant))
      if (call.db === undefined) forgetPlan(tenant)
    },
  }),
})
