import { svcCore } from '@svc/core'
import { resolveOptions, type OptionRules } from '@svc/core/internal'
import t from 'tap'
import { newHost } from '../../support/new-host.ts'

const complaints: [title: string, options: object, message: string][] = [
  [
    'an unknown option',
    { databse: 'x' },
    'svcCore: there is no option "databse"; there are: database, schema, application, secrets, readers, worker, migrate, eventRetentionDays',
  ],
  [
    'an unknown option of the worker',
    { worker: { retries: 3 } },
    'svcCore: there is no option "worker.retries"; there are: enabled, maxAttempts, retryDelaySeconds, retryBackoff, retryDelayMaxSeconds, concurrency',
  ],
  [
    'a number where a database belongs',
    { database: 5 },
    'svcCore: the option "database" must be a connection string, a pg.PoolConfig or a pg.Pool, got 5',
  ],
  [
    'an empty connection string',
    { database: '' },
    'svcCore: the option "database" must be a connection string, a pg.PoolConfig or a pg.Pool, got an empty string',
  ],
  [
    'secrets that are no function',
    { secrets: { A: 'b' } },
    'svcCore: the option "secrets" must be a function (name) => string or null, got an object',
  ],
  [
    'a worker that is no object',
    { worker: [] },
    'svcCore: the option "worker" must be an object, got an array',
  ],
  [
    'no attempt at all',
    { worker: { maxAttempts: 0 } },
    'svcCore: the option "worker.maxAttempts" must be an integer from 1 to 1000, got 0',
  ],
  [
    'a negative delay',
    { worker: { retryDelaySeconds: -1 } },
    'svcCore: the option "worker.retryDelaySeconds" must be an integer of at least 0 (seconds, at most 7 days), got -1',
  ],
  [
    'text for a switch',
    { worker: { enabled: 'no' } },
    'svcCore: the option "worker.enabled" must be true or false, got a string',
  ],
  [
    'an unknown way to migrate',
    { migrate: 'yes' },
    'svcCore: the option "migrate" must be "boot" or "check", got "yes"',
  ],
  ...[
    '',
    'Shop',
    '1shop',
    'my-shop',
    'a.b',
    'a"b',
    'x'.repeat(42),
    'pg_shop',
    'public',
    'svc_jobs',
  ].map((schema): (typeof complaints)[number] => [
    `the schema ${schema}`,
    { schema },
    `svcCore: the option "schema" must be a lower-case letter or "_", then at most 40 lower-case letters, digits and "_", and neither "public", "information_schema" nor a name that begins with "pg_" or ends with "_jobs", got "${schema.replace('"', String.raw`\"`)}"`,
  ]),
  [
    'an application without a name',
    { application: '' },
    'svcCore: the option "application" must be a text of 1 to 214 characters, got ""',
  ],
  [
    'half a day',
    { eventRetentionDays: 0.5 },
    'svcCore: the option "eventRetentionDays" must be an integer from 1 to 36500 (days), got 0.5',
  ],
  [
    'null',
    { eventRetentionDays: null },
    'svcCore: the option "eventRetentionDays" must be an integer from 1 to 36500 (days), got null',
  ],
]

for (const [title, options, message] of complaints) {
  t.test(`${title} is an error at boot that says what would be right`, async (t) => {
    const app = newHost(t)
    await t.rejects(async () => app.register(svcCore, options), {
      code: 'SVC_CORE_INVALID_OPTION',
      message,
    })
  })
}

const rules: OptionRules = {
  name: { expects: 'a name', is: (value) => typeof value === 'string', required: true },
  size: { expects: 'a size', default: 3 },
  box: { expects: 'an object', fields: { color: { expects: 'a color', default: 'red' } } },
  lid: { expects: 'an object', fields: {}, default: null },
}

t.test('an option that is left out takes its default, also a nested one', async (t) => {
  const settled = resolveOptions('plugin', rules, { name: 'a', size: undefined })
  t.strictSame(settled, { name: 'a', size: 3, box: { color: 'red' }, lid: null })
})

t.test('the value of an option is not repeated in the error, as it may be a secret', async (t) => {
  const settle = () =>
    resolveOptions(
      'plugin',
      { key: { expects: 'a number', is: Number.isInteger } },
      { key: 'hunter2' },
    )
  t.throws(settle, { message: 'plugin: the option "key" must be a number, got a string' })
})

t.test('the error for an option that is no secret quotes the beginning of its text', async (t) => {
  const settle = (path: unknown) => () =>
    resolveOptions(
      'plugin',
      { path: { expects: 'a path', quoted: true, is: () => false } },
      { path },
    )
  t.throws(settle('hooks'), { message: 'plugin: the option "path" must be a path, got "hooks"' })
  t.throws(settle('x'.repeat(500)), { message: new RegExp(`got "x{100}"$`) })
  t.throws(settle({}), { message: /got an object$/ })
})

t.test('a missing option is named in the error', async (t) => {
  t.throws(() => resolveOptions('plugin', rules, {}), {
    message: 'plugin: the option "name" is missing, it must be a name',
  })
  t.throws(() => resolveOptions('plugin', rules, 'x'), {
    message: 'plugin: the options must be an object, got a string',
  })
  t.throws(() => resolveOptions('plugin', rules, { name: 'a', box: true }), {
    message: 'plugin: the option "box" must be an object, got true',
  })
})

t.test('the error for a wrong element of a list has its index and its value', async (t) => {
  const list: OptionRules = {
    names: { expects: 'a list of names', each: (name) => typeof name === 'string' && name !== 'x' },
    all: { expects: '"all" or a list', is: (value) => value === 'all', each: Number.isInteger },
  }
  const settle = (options: object) => () => resolveOptions('plugin', list, options)
  t.same(settle({ names: ['a'], all: 'all' })(), { names: ['a'], all: 'all' })
  t.same(settle({ names: [], all: [1] })(), { names: [], all: [1] })
  const rows: [options: object, complaint: string][] = [
    [{ names: ['a', 'x'] }, '"names" must be a list of names, but its element [1] is "x"'],
    [{ names: ['a', 5] }, '"names" must be a list of names, but its element [1] is 5'],
    [{ names: [{}] }, '"names" must be a list of names, but its element [0] is an object'],
    [{ names: 'a' }, '"names" must be a list of names, got a string'],
    [{ all: 'none' }, '"all" must be "all" or a list, got a string'],
    [{ all: [1, 2.5] }, '"all" must be "all" or a list, but its element [1] is 2.5'],
  ]
  for (const [options, complaint] of rows) {
    t.throws(settle(options), { message: `plugin: the option ${complaint}` })
  }
})
