import { execFile } from 'node:child_process'
import { globSync, readFileSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { providerPages } from '../../scripts/provider-pages.ts'
import { GUIDE, MODULES, NAMES } from './names.ts'

const root = join(import.meta.dirname, '../..')
const documents = globSync(
  [
    '*.md',
    'contributing/*.md',
    'docs/*.md',
    'docs/*/*.md',
    'examples/README.md',
    'packages/*/README.md',
  ],
  // What the build of the site writes.
  { cwd: root, exclude: ['docs/reference/**'] },
).toSorted()
const BLOCK = /^```(ts|js)\n([^]*?)^```$/gm

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024'],
  module: 'nodenext',
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
  // Applications of NestJS.
  experimentalDecorators: true,
}

/** A document's blocks, or the examples: files by name, in a folder of their own. */
const folders: Record<string, Record<string, string>> = {}
for (const document of documents) {
  const names = NAMES[document] ?? (document.startsWith('docs/') ? GUIDE : '')
  const blocks = blocksOf(readFileSync(join(root, document), 'utf8'), names)
  if (Object.keys(blocks).length > 0) folders[document.replaceAll('/', '_')] = blocks
}
folders['pages of providers'] = Object.fromEntries(
  Object.entries(providerPages()).flatMap(([page, text]) =>
    Object.entries(blocksOf(text, '')).map(([name, code]) => [
      name === 'names.ts' ? name : `${page}-${name}`,
      code,
    ]),
  ),
)
folders['examples'] = Object.fromEntries(
  globSync('examples/*.ts', { cwd: root }).map((file) => [
    basename(file),
    readFileSync(join(root, file), 'utf8'),
  ]),
)

// Most of a compilation is what all of them import, so there is one for all, except for documents
// that declare the events of a host: they would be the events of all others as well.
const declaresEvents = (name: string): boolean =>
  Object.values(folders[name]!).some((text) => text.includes('interface SvcEvents'))
const projects = [
  Object.keys(folders).filter((name) => !declaresEvents(name)),
  ...Object.keys(folders)
    .filter(declaresEvents)
    .map((name) => [name]),
]

const folder = t.testdir({
  'package.json': '{ "type": "module" }',
  'modules.d.ts': MODULES,
  ...folders,
  ...Object.fromEntries(
    projects.map((names, n) => [
      `${n}.json`,
      JSON.stringify({
        compilerOptions,
        include: ['modules.d.ts', ...names.map((name) => `${name}/*`)],
      }),
    ]),
  ),
})
symlinkSync(join(root, 'tests/node_modules'), join(folder, 'node_modules'))
// Examples of tests import it as `../support`.
symlinkSync(join(root, 'tests/support'), join(folder, 'support'))
const errors = (await Promise.all(projects.map((_names, n) => compile(n)))).join('').split('\n')

for (const name of Object.keys(folders)) {
  t.test(`the code blocks of ${name} compile in a strict project`, async (t) => {
    t.strictSame(
      errors.filter((line) => line.startsWith(`${name}/`)),
      [],
    )
  })
}

t.test('the compiler finds no errors outside of the code blocks', async (t) => {
  const names = Object.keys(folders)
  const elsewhere = errors.filter((line) => !names.some((name) => line.startsWith(`${name}/`)))
  t.equal(elsewhere.join('\n'), '')
})

t.test('names are declared for existing documents only', async (t) => {
  t.same(
    Object.keys(NAMES).filter((document) => !documents.includes(document)),
    [],
  )
})

/** What is wrong with the files of a project. */
function compile(project: number): Promise<string> {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { promise, resolve } = Promise.withResolvers<string>()
  // Without the hooks that tap puts into each Node below it.
  const withoutHooks = ['-u', 'NODE_OPTIONS', process.execPath]
  execFile(
    'env',
    [...withoutHooks, tsc, '--pretty', 'false', '-p', `${project}.json`],
    { cwd: folder },
    (_error, stdout, stderr) => resolve(stdout + stderr),
  )
  return promise
}

/** The blocks as modules, each named by its line; the names that they import stand beside them. */
function blocksOf(text: string, names: string): Record<string, string> {
  const blocks = [...text.matchAll(BLOCK)].map(({ index, 1: language, 2: code }) => {
    const line = text.slice(0, index).split('\n').length
    return [`line-${line}.${language}`, `${code}\n${importsOf(code!, names)}\n`]
  })
  return blocks.length === 0 ? {} : Object.fromEntries([...blocks, ['names.ts', names]])
}

/** Below a block, so that its lines keep their numbers: an import holds for the whole module. */
function importsOf(code: string, names: string): string {
  const imported = [...names.matchAll(/^export (?:declare )?const (\w+)/gm)]
    .map(([, name]) => name!)
    .filter((name) => !declares(code, name))
  return `import { ${imported.join(', ')} } from './names.ts'`
}

function declares(code: string, name: string): boolean {
  return new RegExp(`\\b(?:const|let|function|class|import) (?:\\{[^}]*)?\\b${name}\\b`).test(code)
}
