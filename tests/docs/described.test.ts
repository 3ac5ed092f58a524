import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

t.test('each exported error has a comment that says when it comes', async (t) => {
  const files = globSync('packages/*/src/**/errors.ts', { cwd: ROOT })
  t.ok(files.length >= 5)
  for (const file of files) {
    const lines = read(file).split('\n')
    for (const [at, line] of lines.entries()) {
      const [, name] = /^export (?:const|class) ([A-Z]\w+)(?: =|<| )/.exec(line) ?? []
      if (name) t.ok(lines[at - 1]?.endsWith('*/'), `${name} of ${file}`)
    }
  }
})

const OPTIONS = {
  'packages/core/src/core-options.ts': 'SvcCoreOptions',
  'packages/auth/src/options.ts': 'SvcAuthOptions',
  'packages/webhooks/src/options.ts': 'SvcWebhooksOptions',
  'packages/console/src/options.ts': 'SvcConsoleOptions',
}

for (const [file, name] of Object.entries(OPTIONS)) {
  t.test(`each option of ${name} has a comment with its meaning`, async (t) => {
    const [, body = ''] = new RegExp(`interface ${name} \\{\\n([^]*?)\\n\\}`).exec(read(file)) ?? []
    const lines = body.split('\n')
    const options = lines.flatMap((line, at) => (/^ {2}\w+\??:/.test(line) ? [at] : []))
    t.ok(options.length >= 5)
    for (const at of options) t.ok(lines[at - 1]?.endsWith('*/'), `the option${lines[at]}`)
  })
}
