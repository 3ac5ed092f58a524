/**
 * Why a helper answered `false`. A verification answers with a boolean, and an operator needs more
 * than that; the sender, who may be anyone, gets none of it.
 */
const reasons = new WeakMap<object, string>()

/** Notes the reason, which must hold nothing of a secret nor of an expected signature. */
export function refuse(request: object, reason: string): false {
  reasons.set(request, reason)
  return false
}

/** Before a verification that is made again. */
export const forgetRefusal = (request: object): void => void reasons.delete(request)

export const refusalOf = (request: object): string | undefined => reasons.get(request)
