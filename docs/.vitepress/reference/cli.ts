import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { ROOT } from './declarations.ts'

const help = (...args: string[]): string =>
  execFileSync(process.execPath, [join(ROOT, 'packages/cli/src/svc.ts'), ...args, '--help'], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  }).trimEnd()

/** What the command says about itself. */
export function cliPage(): string {
  const all = help()
  const verbs = [...all.matchAll(/^ {2}([a-z][\w-]*) (?:\[|<|\S| )/gm)]
    .map(([, verb = '']) => verb)
    .filter((verb) => all.slice(all.indexOf('Commands:')).includes(`\n  ${verb} `))
  const block = (text: string) => `\`\`\`text\n${text}\n\`\`\`\n`
  return `# The command svc

\`npm install --save-dev @svc/cli\` brings the command \`svc\`: run it as \`npx svc <verb>\`. It asks the database, or a host by its address (\`--url\`).

${block(all)}
${verbs.map((verb) => `## ${verb}\n\n${block(help(verb))}`).join('\n')}`
}
