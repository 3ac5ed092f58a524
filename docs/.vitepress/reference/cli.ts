import { run } from '../../../packages/cli/src/program.ts'

/** What the command writes. */
async function help(...args: string[]): Promise<string> {
  const texts: string[] = []
  const stream = { write: (text: string) => texts.push(text), isTTY: false }
  await run([...args, '--help'], {
    env: { NO_COLOR: '1' },
    folder: '',
    signal: new AbortController().signal,
    stdout: stream as unknown as NodeJS.WriteStream,
    stderr: stream as unknown as NodeJS.WriteStream,
  })
  return texts.join('').trimEnd()
}

/** What the command says about itself. */
export async function cliPage(): Promise<string> {
  const all = await help()
  const verbs = [...all.matchAll(/^ {2}([a-z][\w-]*) (?:\[options\]|<)/gm)].map(([, verb]) => verb!)
  const block = (text: string) => `\`\`\`text\n${text}\n\`\`\`\n`
  const parts: string[] = []
  for (const verb of verbs) parts.push(`## ${verb}\n\n${block(await help(verb))}`)
  return `# The command svc

\`npm install --save-dev @svc/cli\` brings the command \`svc\`: run it as \`npx svc <verb>\`. It asks the database, or a host by its address (\`--url\`).

${block(all)}
${parts.join('\n')}`
}
