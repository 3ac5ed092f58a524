import t from 'tap'
import { tryOf } from '../../../packages/core/src/migrations/lock-retries.ts'

t.test(
  'tries for a lock begin short, take at most two seconds, and pause for longer than they take',
  async (t) => {
    t.strictSame(tryOf(0, 0), { lockMs: 500, pauseMs: 1000 })
    t.strictSame(tryOf(4, 0), { lockMs: 1000, pauseMs: 2000 })
    t.strictSame(tryOf(8, 0.5), { lockMs: 2000, pauseMs: 6000 })
    t.strictSame(tryOf(1000, 0), { lockMs: 2000, pauseMs: 4000 })
  },
)
