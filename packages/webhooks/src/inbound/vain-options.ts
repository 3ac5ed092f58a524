/** A warning at boot about options of sources that have no effect beside the others. */
import type { FastifyBaseLogger } from 'fastify'
import type { InboundSource } from './source.ts'

/** A host that sets it expects repeats to be recognised, and they are not. */
export function warnOfVainOptions(
  log: FastifyBaseLogger,
  inbound: Readonly<Record<string, InboundSource>> = {},
): void {
  for (const [source, given] of Object.entries(inbound)) {
    if (given.deduplicationTtlSeconds === undefined || given.deduplicationKey) continue
    log.warn(
      { source, option: 'deduplicationTtlSeconds' },
      'the option deduplicationTtlSeconds has no effect without deduplicationKey: requests of this source are not deduplicated',
    )
  }
}
