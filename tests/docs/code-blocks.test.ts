import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import t, { type Test } from 'tap'
import { NAMES } from './names.ts'

const root = join(import.meta.dirname, '../..')
const documents = globSync(
  [
    '*.md',
    'docs/testing.md',
    'docs/migrations.md',
    'examples/README.md',
    'packages/*/README.md',
    'packages/*/docs/*.md',
  ],
  { cwd: root },
).toSorted()
const BLOCK = /^```(ts|js)\n([^]*?)^```$/gm

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024'],
  module: 'nodenext',
  // The names may be a script: its declarations are global.
  moduleDetection: 'legacy',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  allowJs: true,
  checkJs: true,
  noEmit: true,
}

for (const document of documents) {
  const blocks = blocksOf(readFileSync(join(root, document), 'utf8'))
  if (Object.keys(blocks).length === 0) continue

  t.test(`each code block of ${document} compiles in a strict project`, async (t) => {
    compiles(t, { ...blocks, 'names.ts': NAMES[document] ?? '' })
  })
}

t.test('the examples compile in a strict project', async (t) => {
  const examples = globSync('examples/*.ts', { cwd: root })
  compiles(
    t,
    Object.fromEntries(
      examples.map((file) => [basename(file), readFileSync(join(root, file), 'utf8')]),
    ),
  )
})

t.test('names are declared for documents that there are', async (t) => {
  t.same(
    Object.keys(NAMES).filter((document) => !documents.includes(document)),
    [],
  )
})

function compiles(t: Test, files: Record<string, string>): void {
  const folder = t.testdir({
    'tsconfig.json': JSON.stringify({ compilerOptions, include: ['blocks'] }),
    'package.json': '{ "type": "module" }',
    blocks: files,
  })
  // Examples of tests import it as `../support`.
  symlinkSync(join(root, 'tests/support'), join(folder, 'support'))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  // Without the hooks that tap puts into each Node below it.
  const { status, stdout, stderr } = spawnSync(
    'env',
    ['-u', 'NODE_OPTIONS', process.execPath, tsc, '-p', '.'],
    { cwd: folder, encoding: 'utf8' },
  )
  t.equal(stdout + stderr, '')
  t.equal(status, 0)
}

/** The blocks as modules, each named by its line. */
function blocksOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(BLOCK)].map(({ index, 1: language, 2: code }) => {
      const line = text.slice(0, index).split('\n').length
      return [`line-${line}.${language}`, `${code}\nexport {}\n`]
    }),
  )
}
