import t from 'tap'
import { addressOf } from '../../../packages/core/src/postgres/connection-config.ts'
import {
  isConnectionError,
  isLostConnection,
  isOutage,
  whyUnavailable,
  whyUnreachable,
} from '../../../packages/core/src/postgres/connection-errors.ts'

const failed = (message: string, code?: string) => Object.assign(new Error(message), { code })

const away: [what: unknown, isConnectionError: boolean][] = [
  [failed('terminating connection due to administrator command', '57P01'), true],
  [failed('the database system is starting up', '57P03'), true],
  [failed('sorry, too many clients already', '53300'), true],
  [failed('connection failure', '08006'), true],
  [failed('cannot execute INSERT in a read-only transaction', '25006'), true],
  [failed('connect ECONNREFUSED', 'ECONNREFUSED'), true],
  [failed('Connection terminated unexpectedly'), true],
  [failed('timeout exceeded when trying to connect'), true],
  [failed('timeout expired'), true],
  [failed('certificate has expired', 'CERT_HAS_EXPIRED'), true],
  [failed('unable to verify the first certificate', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'), true],
  [failed('There was an error establishing an SSL connection'), true],
  [failed('Cannot use a pool after calling end on the pool'), true],
  [failed('Client has encountered a connection error and is not queryable'), true],
  [failed('duplicate key value violates unique constraint', '23505'), false],
  [failed('statement timeout', '57014'), false],
  [failed('a bug'), false],
  ['text', false],
  [undefined, false],
  [null, false],
]
for (const [what, expected] of away) {
  t.test(`${String(what)} ${expected ? 'is' : 'is not'} a connection error`, async (t) => {
    t.equal(isConnectionError(what), expected)
  })
}

const config = { connectionString: 'postgres://user:hunter2@db:6543/name' }
const advice = 'check the option "database" (by default the secret DATABASE_URL)'
const sentences: [error: unknown, sentence: string][] = [
  [
    failed('password authentication failed for user "user"', '28P01'),
    `svcCore: Postgres at db:6543 answers, but refuses: password authentication failed for user "user": ${advice}`,
  ],
  [
    failed('database "name" does not exist', '3D000'),
    `svcCore: Postgres at db:6543 answers, but refuses: database "name" does not exist: ${advice}`,
  ],
  [
    failed('connect ECONNREFUSED 1.2.3.4:6543', 'ECONNREFUSED'),
    `svcCore: Postgres cannot be reached at db:6543 (connect ECONNREFUSED 1.2.3.4:6543): start it, or ${advice}`,
  ],
  [
    failed('certificate has expired', 'CERT_HAS_EXPIRED'),
    `svcCore: there is no TLS with Postgres at db:6543: certificate has expired: check sslmode, sslrootcert, sslcert and sslkey, or "ssl", in the option "database" (by default the secret DATABASE_URL)`,
  ],
  [
    failed('The server does not support SSL connections'),
    `svcCore: there is no TLS with Postgres at db:6543: The server does not support SSL connections: check sslmode, sslrootcert, sslcert and sslkey, or "ssl", in the option "database" (by default the secret DATABASE_URL)`,
  ],
  [
    failed('db:6543 only reads', '25006'),
    `svcCore: Postgres at db:6543 takes no writes at the moment (db:6543 only reads): boot again when it does, or ${advice}`,
  ],
  [
    failed('', 'ECONNREFUSED'),
    `svcCore: Postgres cannot be reached at db:6543 (ECONNREFUSED): start it, or ${advice}`,
  ],
  [
    failed('two\nlines'),
    `svcCore: Postgres cannot be reached at db:6543 (two lines): start it, or ${advice}`,
  ],
  [
    undefined,
    `svcCore: Postgres cannot be reached at db:6543 (no reason given): start it, or ${advice}`,
  ],
]
for (const [error, sentence] of sentences) {
  t.test(`${String(error)} becomes one sentence without the password`, async (t) => {
    t.equal(whyUnreachable(error, addressOf(config)), sentence)
  })
}

/** What it is called, whether the connection is gone, and whether other statements would fail as well. */
const states: [code: string, says: RegExp | undefined, isLost: boolean, isOutage: boolean][] = [
  ['08006', /cannot be reached/, true, true],
  ['57P01', /starting or shutting down/, true, true],
  ['57P03', /starting or shutting down/, true, true],
  ['53300', /no more connections/, true, true],
  ['28P01', /refuses the login/, true, true],
  ['3D000', /does not exist/, true, true],
  ['25P03', /ended the session/, true, true],
  ['25006', /only reads/, false, true],
  ['53100', /disk of the database is full/, false, true],
  ['53200', /out of memory/, false, true],
  ['53400', /used up a resource/, false, true],
  ['58030', /fault of its own/, false, false],
  ['XX001', /fault of its own/, false, false],
  ['23505', undefined, false, false],
  ['54000', undefined, false, false],
]
t.test(
  'a server that refuses a connection, since its disk is full, has no other fault',
  async (t) => {
    const error = failed('could not write init file', 'XX000')
    t.match(whyUnavailable(error), /disk of the database is full/)
    t.ok(isOutage(error), 'no other statement is tried')
  },
)

for (const [code, says, isLost, isOut] of states) {
  t.test(
    `the SQLSTATE ${code} ${says ? `is an Unavailable: ${says.source}` : 'is an answer'}`,
    async (t) => {
      const error = failed('no', code)
      if (says) t.match(whyUnavailable(error), says)
      else t.equal(whyUnavailable(error), undefined)
      t.equal(isLostConnection(error), isLost)
      t.equal(isOutage(error), isOut)
    },
  )
}
