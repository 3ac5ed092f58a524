/** What a package exports, from the declarations in its tarball: one text that a review can read. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
// TypeScript 7 has no API for programs yet.
import ts from 'typescript-api'

/** Entries that are not public, as `docs/start/support-and-versions.md` says, and one of data: the presets are compared with vectors. */
const OWN = /^\.\/(?:internal|node-version|migrations|presets|package\.json)$/

/**
 * The public exports of each entry with their signatures, then the declarations that these name and that no
 * entry exports, since a change of theirs changes what a host sees. Without comments, in the order of names.
 *
 * @param folder of the package, as it is installed
 */
export function apiReport(folder: string): string {
  const { name, exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string
    exports: Record<string, string | { types: string }>
  }
  const entries = Object.entries(exports).flatMap(([entry, target]) =>
    OWN.test(entry) || typeof target === 'string'
      ? []
      : [{ entry, file: join(folder, target.types) }],
  )
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2024, skipLibCheck: true },
  )
  const checker = program.getTypeChecker()
  const printer = ts.createPrinter({ removeComments: true })
  const seen = new Set<ts.Declaration>()
  const waiting: ts.Declaration[] = []

  const actual = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const isOurs = (node: ts.Node): boolean => {
    const { fileName } = node.getSourceFile()
    return fileName.startsWith(`${folder}/`) && !fileName.startsWith(`${folder}/dist/presets`)
  }

  /** Prints a declaration, and notes those that it names. */
  function textOf(declaration: ts.Declaration): string {
    seen.add(declaration)
    const visit = (node: ts.Node): void => {
      const named = ts.isIdentifier(node) && checker.getSymbolAtLocation(node)
      for (const other of (named && actual(named).declarations) || []) {
        const around = statementOf(other).parent as ts.Node | undefined
        if (around && ts.isSourceFile(around) && isOurs(other) && !seen.has(other))
          waiting.push(other)
      }
      node.forEachChild(visit)
    }
    visit(declaration)
    const statement = statementOf(declaration)
    const text = printer.printNode(ts.EmitHint.Unspecified, statement, statement.getSourceFile())
    return text.replace(/^export (?:default )?/, '').replace(/^declare /, '')
  }

  const parts = entries.map(({ entry, file }) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!
    const symbols = checker.getExportsOfModule(module)
    const texts = symbols.map((symbol) => {
      const declarations = actual(symbol).declarations?.filter(isOurs) ?? []
      const own = actual(symbol).name
      const alias = own === symbol.name ? '' : `// as ${symbol.name}\n`
      if (declarations.length === 0) return `// ${symbol.name}, of another package`
      return alias + declarations.map(textOf).join('\n')
    })
    return `## ${name}${entry.slice(1)}\n\n${texts.toSorted().join('\n\n')}\n`
  })
  const named: string[] = []
  while (waiting.length > 0) {
    const declaration = waiting.pop()!
    if (!seen.has(declaration)) named.push(textOf(declaration))
  }
  if (named.length > 0) parts.push(`## named by these\n\n${named.toSorted().join('\n\n')}\n`)
  return parts.join('\n')
}

/** The statement around it: of a variable, the whole one. */
function statementOf(node: ts.Node): ts.Node {
  return ts.isVariableDeclaration(node) ? node.parent.parent : node
}
