/** What goes wrong, and when: the same for the same seed. */
import { seededRandom } from '../auth/support/random.ts'

export type Fault =
  /** SIGKILL, and another process in its place. */
  | { kind: 'kill'; host: number }
  /** A host whose clock is wrong takes the place of one that is killed. */
  | { kind: 'wrong clock'; host: number; offsetMs: number }
  /** A host with other options takes the place of one that is killed. */
  | { kind: 'other options'; host: number }
  /** SIGSTOP, and SIGCONT after a while: a machine that was suspended. */
  | { kind: 'freeze'; host: number; ms: number }
  /** All connections break, and new ones are refused for a while. */
  | { kind: 'cut'; ms: number }
  /** Nothing that is sent arrives. */
  | { kind: 'silence'; ms: number }
  /** Each answer of Postgres comes late. */
  | { kind: 'slow'; ms: number }
  /** `pg_terminate_backend` for one in `oneIn` connections. */
  | { kind: 'terminate'; oneIn: number }
  /** A server process dies: Postgres ends all connections and recovers from its log. */
  | { kind: 'crash' }
  /** The receiver answers with errors, or not at all. */
  | { kind: 'receiver'; answer: 'error' | 'nothing'; ms: number }
  /** Nothing begins until `events` more events are acknowledged, or some seconds have passed. */
  | { kind: 'calm'; events: number }

export function scheduleOf(seed: number, length: number, hosts: number): Fault[] {
  const random = seededRandom(seed)
  const between = (from: number, to: number) => Math.floor(from + random() * (to - from))
  const kinds: (() => Fault)[] = [
    () => ({ kind: 'kill', host: between(0, hosts) }),
    () => ({
      kind: 'wrong clock',
      host: between(0, hosts),
      offsetMs: between(-5, 6) * 60_000,
    }),
    () => ({ kind: 'other options', host: between(0, hosts) }),
    () => ({ kind: 'freeze', host: between(0, hosts), ms: between(200, 4000) }),
    () => ({ kind: 'cut', ms: between(50, 2500) }),
    () => ({ kind: 'silence', ms: between(50, 2500) }),
    () => ({ kind: 'slow', ms: between(500, 2500) }),
    () => ({ kind: 'terminate', oneIn: between(1, 4) }),
    () => ({ kind: 'crash' }),
    () => ({
      kind: 'receiver',
      answer: random() < 0.5 ? 'error' : 'nothing',
      ms: between(200, 2500),
    }),
  ]
  return Array.from({ length }, () => [
    kinds[between(0, kinds.length)]!(),
    { kind: 'calm', events: between(1, 20) } as const,
  ]).flat()
}
