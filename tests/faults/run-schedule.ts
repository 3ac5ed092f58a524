/** One schedule of a storm: its load, its faults, and what its ledger says in the end. */
import { afterwardsIn, describeWaiting, emptyTables, jobsIn } from './afterwards.ts'
import { Deadline } from './deadline.ts'
import { LIMITS, type WebhookName } from './ledger.ts'
import { Load, type PresentedKeys } from './load.ts'
import { clusterScheduleOf, scheduleOf, type Step } from './schedule.ts'
import { strike, type World } from './strike.ts'
import { missing, violations } from './violations.ts'

export interface Report {
  steps: Step[]
  /** Promises that were broken. */
  violations: string[]
  /** What was counted. */
  counts: string
  /** How long the faults took, and how long it took until all was quiet after them. */
  stormMs: number
  settledMs: number
}

const LONGEST_CALM_MS = 3000
/** Within it all that was acknowledged has come: far beyond any lease that must lapse first. */
const SETTLED_WITHIN_MS = 90_000
const DEADLINE_MS = 240_000
/** Between two looks whether all is quiet. */
const LOOK_MS = 500
/** What has looked like a breach may be half of what is just being committed. */
const LOOK_AGAIN_MS = 1000

type Given = Omit<World, 'deadline' | 'load'>

/** Never rejects: what went wrong is a violation. */
export async function runSchedule(given: Given): Promise<Report> {
  const { hosts, ledger } = given
  const deadline = new Deadline(DEADLINE_MS)
  const load = new Load(hosts, ledger, deadline)
  const world = { ...given, deadline, load }
  const { seed } = ledger
  const draw = world.cluster ? clusterScheduleOf : scheduleOf
  const steps = draw(seed, world.faults, hosts.count)
  const report: Report = { steps, violations: [], counts: '', stormMs: 0, settledMs: 0 }
  try {
    await hosts.renew(deadline)
    const { keys, webhooks } = await prepare(world)
    const began = performance.now()
    const running = load.run(keys)
    try {
      await play(world, steps)
    } finally {
      load.end()
      await running
    }
    const over = performance.now()
    report.stormMs = over - began
    report.violations = await settle(world, webhooks)
    report.settledMs = performance.now() - over
    for (const id of webhooks) await load.posted('/control/unregister', () => ({ id }))
    await emptyTables(world.direct)
  } catch (error) {
    load.end()
    report.violations.push(String(error))
  }
  report.violations.push(...hosts.complaints.map((text) => `a host ${text}`))
  report.counts = countsOf(world)
  return report
}

/** The webhooks and keys of this schedule alone. */
async function prepare({
  receiver,
  load,
}: World): Promise<{ keys: PresentedKeys; webhooks: string[] }> {
  const webhooks: string[] = []
  const register = async (name: WebhookName, settings: object) => {
    let tries = 0
    const url = () => new URL(`?try=${tries}`, receiver.urlOf(name))
    const { id, secret } = await load.posted<{ id: string; secret: string }>(
      '/control/webhook',
      () => {
        tries++
        return { url: url().href, ...settings }
      },
    )
    receiver.webhooks.set(name, { target: url().pathname + url().search, secret })
    webhooks.push(id)
  }
  await register('plain', { events: ['order.created'] })
  await register('ordered', { events: ['order.step'], ordered: true })
  await register('rated', { events: ['order.step'], rateLimit: LIMITS.rated })
  await register('capped', { events: ['order.step'], maxInFlight: LIMITS.capped })
  const keyWith = async (settings: object) =>
    (await load.posted<{ key: string }>('/control/key', () => settings)).key
  const quota = { limit: LIMITS.quota, period: 'total' }
  const keys = {
    counted: await keyWith({ quota }),
    limited: await keyWith({ limits: [LIMITS.key] }),
  }
  return { keys, webhooks }
}

async function play(world: World, steps: readonly Step[]): Promise<void> {
  const { ledger, deadline } = world
  const failed: unknown[] = []
  const striking: Promise<unknown>[] = []
  for (const { fault, isAwaited, events } of steps) {
    const over = strike(world, fault).catch((error: unknown) => failed.push(error))
    striking.push(over)
    if (isAwaited) await over
    if (failed.length > 0) break
    const enough = ledger.published.size + events
    const latest = performance.now() + LONGEST_CALM_MS
    await deadline.until(
      'calm',
      () => ledger.published.size >= enough || performance.now() > latest,
    )
  }
  await Promise.all(striking)
  if (failed.length > 0) throw failed[0]
}

/** Nothing is restarted: the hosts go on by themselves. Returns the promises that were broken. */
async function settle(world: World, webhooks: readonly string[]): Promise<string[]> {
  const { direct, ledger, hosts, deadline, load } = world
  const places = Array.from({ length: hosts.count }, (_, place) => place)
  const unhealthy = new Set(places)
  const look = () => afterwardsIn(direct, ledger.seed, webhooks).catch(() => null)
  const latest = performance.now() + SETTLED_WITHIN_MS
  await deadline.until(
    'quiet',
    async () => {
      if (performance.now() > latest) return true
      for (const place of unhealthy) {
        if (await load.isHealthy(place)) unhealthy.delete(place)
      }
      if (unhealthy.size > 0) return false
      // Most looks end here: what is answered next takes longer to read.
      const jobs = await jobsIn(direct).catch(() => null)
      if (jobs?.waiting !== 0) return false
      const afterwards = await look()
      return afterwards?.waiting === 0 && missing(ledger, afterwards).length === 0
    },
    LOOK_MS,
  )
  for (const place of places) await load.presentRevoked(place)
  const found = async () => {
    const afterwards = await deadline.until('what Postgres holds', look, LOOK_MS)
    const stored = new Set(afterwards.stored)
    ledger.lost = [...ledger.published].filter((id) => !stored.has(id)).length
    return violations(ledger, afterwards)
  }
  let broken = await found()
  if (broken.length > 0) {
    await new Promise((resolve) => {
      setTimeout(resolve, LOOK_AGAIN_MS)
    })
    broken = await found()
    if (broken.length > 0) broken.push(...(await describeWaiting(direct)))
  }
  return [...[...unhealthy].map((place) => `host ${place} is not healthy again`), ...broken]
}

function countsOf({ ledger }: World): string {
  const { published, steps, accepted, attempts, limited, revoked, away, moves, refusals } = ledger
  const ofKind = (kind: string) => moves.filter((move) => move.kind === kind)
  const most = (kind: string, of: 'publishedMs' | 'deliveredMs') =>
    Math.round(Math.max(0, ...ofKind(kind).map((move) => move[of])))
  return [
    ...away.map(
      ({ kind, ms }) =>
        `${kind}: a commit after ${Math.round(ms)} ms, publishing within ${most(kind, 'publishedMs')} ms, delivering within ${most(kind, 'deliveredMs')} ms;`,
    ),
    ...[...refusals].map(([error, count]) => `${count} times "${error}";`),
    `${published.size} publishes, ${steps.length} steps, ${accepted.size} inbound requests,`,
    `${attempts.length} attempts, ${limited.length} requests with a limit,`,
    `${revoked.length} revoked keys`,
    ...(ledger.isLossy ? [`and ${ledger.lost} publishes lost`] : []),
  ].join(' ')
}
