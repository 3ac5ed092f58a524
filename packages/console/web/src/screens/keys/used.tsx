/** How much of limits and quotas is used. */
import type { ApiKey, LimitUsage } from '../../server/contract.ts'
import { count, exact, span } from '../../text/format.ts'

interface Counted {
  used: number
  limit: number
}

/** From here on it is near its end. */
export const NEAR = 0.8

export function Used({ of: { used, limit }, what }: { of: Counted; what: string }) {
  const share = used / limit
  return (
    <span class="used">
      <meter
        aria-label={what}
        value={Math.min(used, limit)}
        max={limit}
        // A value at it is not above it.
        high={limit * NEAR * 0.999}
        optimum={0}
      />
      <span class={share >= 1 ? 'problem-text' : undefined}>
        {`${count(used)} of ${count(limit)}`}
      </span>
    </span>
  )
}

const all = ({ quota, limits }: LimitUsage): Counted[] => [...(quota ? [quota] : []), ...limits]

/** The one of which least is left. */
export function MostUsed({ of: { usage } }: { of: ApiKey }) {
  if (!usage) return null
  const { plan } = usage
  const [first] = all(usage).toSorted((a, b) => b.used / b.limit - a.used / a.limit)
  return (
    <>
      {first && <Used of={first} what="Used of its nearest limit" />}
      {plan && <bdi class="sub-line">{`Plan ${plan}`}</bdi>}
    </>
  )
}

/** Of a key: its quota and each of its limits. */
export const UsedOfKey = ({ of: { plan, quota, limits } }: { of: LimitUsage }) => (
  <ul class="used-list">
    {plan && (
      <li>
        Plan <b>{plan}</b>
      </li>
    )}
    {quota && (
      <li>
        <Used of={quota} what="Used of the quota" />
        <span class="faint">
          {quota.resetsAt === null ? 'in all' : `resets ${exact(quota.resetsAt).slice(0, 16)}`}
        </span>
      </li>
    )}
    {limits.map((one) => (
      <li key={one.perSeconds}>
        <Used of={one} what={`Used of the limit in ${span(one.perSeconds)}`} />
        <span class="faint">{`in ${span(one.perSeconds)}`}</span>
      </li>
    ))}
  </ul>
)
