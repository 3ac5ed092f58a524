/** A boot, or a command, in the middle of a failover: for some seconds no host of a list takes writes. */
import { clientOf, type Config } from './connection-config.ts'
import { isAnswer, isConnectionError, PASSWORD_FAILED } from './connection-errors.ts'
import { loggable } from './loggable-error.ts'
import { pause } from '../time.ts'

const WAIT_MS = 30_000
const PAUSE_MS = 500

/**
 * Waits for a host that takes writes where all of a list are away or only read. What else is the matter is for
 * the boot to find.
 *
 * @param options `reads`: a primary that only reads will do
 */
export async function awaitPrimary(
  config: Config,
  log: { warn(details: object, message: string): void },
  signal: AbortSignal,
  { reads = false }: { reads?: boolean } = {},
): Promise<void> {
  if (!config.hosts?.isList) return
  const deadline = performance.now() + WAIT_MS
  let isLogged = false
  for (;;) {
    const err = await whyNot(config, reads)
    if (err === undefined || performance.now() > deadline) return
    if (!isLogged) log.warn({ err: loggable(err) }, WAITS)
    isLogged = true
    await pause(PAUSE_MS, signal)
  }
}

const WAITS = 'no host of the list of the database takes writes; waiting 30 seconds for one'

async function whyNot(config: Config, reads: boolean): Promise<Error | undefined> {
  const client = clientOf({ ...config, query_timeout: config.connectionTimeoutMillis })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query('show transaction_read_only')
    if (reads || rows[0].transaction_read_only === 'off') return undefined
    return Object.assign(new Error('it only reads'), { code: '25006' })
  } catch (error) {
    const isMoment = isConnectionError(error) && !isAnswer(error)
    const { message } = error as Error
    return isMoment && !message.includes(PASSWORD_FAILED) ? (error as Error) : undefined
  } finally {
    client.end().catch(() => {})
  }
}
