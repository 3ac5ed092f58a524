/** What goes wrong, and when: the same for the same seed. */
import { seededRandom } from '../auth/support/random.ts'

export type Fault = HostFault | ClusterFault

export type HostFault =
  /** SIGKILL, and another process in its place. */
  | { kind: 'kill'; host: number }
  /** A host whose clock is wrong takes the place of one that is killed. */
  | { kind: 'wrong clock'; host: number; offsetMs: number }
  /** The clock of a host that runs is set. */
  | { kind: 'clock step'; host: number; offsetMs: number }
  /** A host with other options takes the place of one that is killed. */
  | { kind: 'other options'; host: number }
  /** A host with an older version of the packages takes the place of one that is killed. */
  | { kind: 'older version'; host: number }
  /** SIGSTOP, and SIGCONT after a while: a machine that was suspended. */
  | { kind: 'freeze'; host: number; ms: number }
  /** All connections break, and new ones are refused for a while. */
  | { kind: 'cut'; ms: number }
  /** The same for one host, while the others go on and may take it for dead. */
  | { kind: 'partition'; host: number; ms: number }
  /** All connections are reset, and new ones can be made. */
  | { kind: 'reset' }
  /** Nothing that is sent arrives. */
  | { kind: 'silence'; ms: number }
  /** Each answer of Postgres comes late. */
  | { kind: 'slow'; ms: number }
  /** Transactions are committed late, and hold their locks meanwhile. */
  | { kind: 'slow commits'; lateMs: number; ms: number }
  /** `pg_terminate_backend` for one in `oneIn` connections. */
  | { kind: 'terminate'; oneIn: number }
  /** A server process dies: Postgres ends all connections and recovers from its log. */
  | { kind: 'crash' }
  /** Postgres is shut down at once, and started again. */
  | { kind: 'restart' }
  /** The receiver answers with errors, or not at all. */
  | { kind: 'receiver'; answer: 'error' | 'nothing'; ms: number }

/** What befalls a cluster. Nothing else strikes it until it is whole again, save a fault of the others `beside`. */
export type ClusterFault = { beside?: HostFault } & (
  | /** SIGKILL of the server. */
    { kind: 'primary killed' }
  /** The same after its standbys have got nothing for a while, or have been late to apply what they got. */
  | { kind: 'primary killed before late standbys'; by: 'network' | 'apply'; ms: number }
  | { kind: 'switchover' }
  /** SIGSTOP of all its processes, until another one has taken over. */
  | { kind: 'primary hangs' }
  /** It still runs, and has no word of etcd, or of anybody, until another one has taken over. */
  | { kind: 'primary cut off'; from: 'etcd' | 'all' }
  | { kind: 'disk full'; ms: number }
)

export interface Step {
  fault: Fault
  /** Whether what follows waits for the end of the fault; else it strikes while the fault lasts. */
  isAwaited: boolean
  /** Then nothing begins until so many more events are acknowledged, or some seconds have passed. */
  events: number
}

interface Drawing {
  random: () => number
  between: (from: number, to: number) => number
}

function drawingOf(seed: number): Drawing {
  const random = seededRandom(seed)
  return { random, between: (from, to) => Math.floor(from + random() * (to - from)) }
}

function faultsOf({ random, between }: Drawing, hosts: number): (() => HostFault)[] {
  const host = () => between(0, hosts)
  const offsetMs = () => between(-5, 6) * 60_000
  return [
    () => ({ kind: 'kill', host: host() }),
    () => ({ kind: 'wrong clock', host: host(), offsetMs: offsetMs() }),
    () => ({ kind: 'clock step', host: host(), offsetMs: offsetMs() }),
    () => ({ kind: 'other options', host: host() }),
    () => ({ kind: 'older version', host: host() }),
    () => ({ kind: 'freeze', host: host(), ms: between(200, 4000) }),
    () => ({ kind: 'cut', ms: between(50, 2500) }),
    () => ({ kind: 'partition', host: host(), ms: between(50, 5000) }),
    () => ({ kind: 'reset' }),
    () => ({ kind: 'silence', ms: between(50, 2500) }),
    () => ({ kind: 'slow', ms: between(500, 2500) }),
    () => ({ kind: 'slow commits', lateMs: between(100, 1500), ms: between(500, 2500) }),
    () => ({ kind: 'terminate', oneIn: between(1, 4) }),
    () => ({ kind: 'crash' }),
    () => ({ kind: 'restart' }),
    () => ({
      kind: 'receiver',
      answer: random() < 0.5 ? 'error' : 'nothing',
      ms: between(200, 2500),
    }),
  ]
}

export function scheduleOf(seed: number, length: number, hosts: number): Step[] {
  const drawing = drawingOf(seed)
  const { random, between } = drawing
  const kinds = faultsOf(drawing, hosts)
  return Array.from({ length }, () => ({
    fault: kinds[between(0, kinds.length)]!(),
    isAwaited: random() < 0.6,
    events: between(1, 20),
  }))
}

/** The older version has no lists of hosts, and a server of a cluster is not started again by the storm. */
const NOT_BESIDE = new Set<Fault['kind']>(['older version', 'restart'])

/** Faults of a cluster, each of them once at most, with others beside some of them. */
export function clusterScheduleOf(seed: number, length: number, hosts: number): Step[] {
  const drawing = drawingOf(seed)
  const { random, between } = drawing
  const kinds = faultsOf(drawing, hosts)
  const beside = (): { beside?: HostFault } => {
    const fault = kinds[between(0, kinds.length)]!()
    return random() < 0.5 || NOT_BESIDE.has(fault.kind) ? {} : { beside: fault }
  }
  const by = random() < 0.5 ? 'network' : 'apply'
  const all: ClusterFault[] = [
    { kind: 'primary killed', ...beside() },
    // Postgres itself shows a commit early whose wait for a standby is ended.
    { kind: 'primary killed before late standbys', by, ms: between(500, 4000) },
    { kind: 'switchover', ...beside() },
    { kind: 'disk full', ms: between(1000, 5000), ...beside() },
    random() < 0.4
      ? { kind: 'primary hangs', ...beside() }
      : { kind: 'primary cut off', from: random() < 0.5 ? 'etcd' : 'all', ...beside() },
  ]
  const order = all.map((fault) => ({ fault, place: random() }))
  return order
    .toSorted((one, other) => one.place - other.place)
    .slice(0, length)
    .map(({ fault }) => ({ fault, isAwaited: true, events: between(1, 20) }))
}

/** The schedule in one line. */
export const textOf = (steps: readonly Step[]): string =>
  steps
    .map(
      ({ fault, isAwaited, events }) => `${named(fault)}${isAwaited ? '' : ' meanwhile'} ${events}`,
    )
    .join(', ')

function named({ kind, ...details }: Fault): string {
  const values = Object.entries(details).map(
    ([name, value]) => ` ${name} ${typeof value === 'object' ? named(value) : value}`,
  )
  return kind + values.join('')
}
