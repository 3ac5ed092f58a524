import pg from 'pg'
import t from 'tap'
import {
  addressOf,
  configOf,
  isPool,
  withServerOptions,
} from '../../../packages/core/src/postgres/connection-config.ts'

t.test('the hidden properties of a given pool are copied', async (t) => {
  const password = () => 'rotated'
  const pool = new pg.Pool({ host: 'db', password, ssl: { key: 'PEM', ca: 'CA' }, max: 3 })
  t.notOk(Object.keys(pool.options).includes('password'), 'pg hides it')
  const config = configOf(pool)
  t.equal(config.password, password)
  t.equal((config.ssl as { key: string }).key, 'PEM')
  t.match(config, { host: 'db', max: 3 })
  const { connectionParameters } = new pg.Client(config) as unknown as {
    connectionParameters: { ssl: { key: string }; password: unknown }
  }
  t.equal(connectionParameters.ssl.key, 'PEM')
  t.equal(connectionParameters.password, password)
})

t.test('a pool may come from another copy of pg', async (t) => {
  const other = { connect() {}, query() {}, options: { host: 'db' } }
  t.ok(isPool(other))
  t.match(configOf(other as never), { host: 'db', keepAlive: true })
  t.match(configOf({ connect() {}, query() {} } as never), { keepAlive: true })
  t.notOk(isPool({ host: 'db' }))
  t.notOk(isPool(null))
})

const strings: [given: string, isRefused: boolean][] = [
  ['postgres://user:pass@host:5432/name', false],
  ['postgresql://host', false],
  ['postgres://user:p%40ss@host/name?sslmode=disable', false],
  ['postgres:///name?host=/var/run/postgresql', false],
  ['/var/run/postgresql name', false],
  ['name', true],
  ['', true],
  ['mysql://host/name', true],
  ['DATABASE_URL=postgres://host/name', true],
  ['postgres://user:pa@ss/word@host/name', true],
  ['postgres://host:99999/name', true],
  ['postgres://user:pa#ss@host/name', true],
  ['postgres://user:2024#Secret@host:1/name', true],
  ['postgres://user:77?Secret@host/name', true],
  ['postgres://user:12/Secret@host/name', true],
  ['postgres://user:7/8#9?Secret@host/name', true],
  ['postgres://user:a@b?c@host/name', true],
  ['postgres://user:pa\tss@host/name', true],
  ['postgres://user:p%40ss@host/name\n', false],
  ['postgres://user:p%40ss@host/name?application_name=a%40b', false],
]
for (const [given, isRefused] of strings) {
  t.test(`"${given}" is ${isRefused ? 'no' : 'a'} connection string`, async (t) => {
    if (!isRefused) return t.match(configOf(given), { connectionString: given })
    for (const option of [given, { connectionString: given }]) {
      t.throws(() => configOf(option), {
        code: 'SVC_CORE_INVALID_OPTION',
        message: /must be a URL/,
      })
    }
  })
}

t.test('server settings are added to those in the given options or URL', async (t) => {
  const optionsOf = (config: pg.PoolConfig) => {
    const client = new pg.Client(withServerOptions(config, '-c jit=off'))
    return (client as unknown as { connectionParameters: { options: string } }).connectionParameters
      .options
  }
  t.equal(optionsOf({}), '-c jit=off')
  t.equal(optionsOf({ options: '-c a=b' }), '-c a=b -c jit=off')
  t.equal(optionsOf({ connectionString: 'postgres://h/n?options=-c%20a%3Db' }), '-c a=b -c jit=off')
  t.equal(
    optionsOf({ connectionString: 'postgres://h/n?x=1&options=-c+a%3Db&y=2', options: '-c c=d' }),
    '-c a=b -c jit=off',
  )
  process.env['PGOPTIONS'] = '-c e=f'
  t.teardown(() => delete process.env['PGOPTIONS'])
  t.equal(optionsOf({}), '-c e=f -c jit=off')
})

t.test('an error names the address that pg would connect to', async (t) => {
  t.equal(addressOf({ connectionString: 'postgres://u:secret@db:6543/n' }), 'db:6543')
  t.equal(addressOf({ host: '/run/pg' }), '/run/pg')
  t.equal(addressOf({ connectionString: 'postgres://db:99999/name' }), 'that address')
})
