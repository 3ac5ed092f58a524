/** How a receiver that cannot be reached from outside reads the events itself, on this host. */
import { useSession } from '../shell/session.ts'
import { Code } from '../ui/code.tsx'
import { Dialog } from '../ui/dialog.tsx'

export function FeedDialog({ path, onClose }: { path: string; onClose: () => void }) {
  const { session } = useSession()
  const url = `${location.origin}${path}`
  return (
    <Dialog title="Read the feed" onClose={onClose} wide>
      <p>
        The feed has these events in the order in which they happened. Each answer has a{' '}
        <code>cursor</code>: keep it with what you have done, and ask after it the next time.
        Nothing else remembers how far you have read.
      </p>
      <p>
        The header <code>x-api-key</code> has a key with the scope <code>events:read</code>
        {session.tenant !== null && (
          <>
            {' '}
            of <bdi>{session.tenant}</bdi>
          </>
        )}
        . To read only some events, add <code>&amp;events=</code> with names that are separated by
        commas.
      </p>
      <h3 class="part">The oldest events that are kept</h3>
      <Code text={`curl -H "x-api-key: $KEY" "${url}?after=start&limit=10"`} what="curl" />
      <h3 class="part">All, and each new one within seconds</h3>
      <Code text={readerOf(url)} what="reader" />
      <p class="hint">
        It runs as <code>KEY=… node reader.mjs</code>. An answer 410 has <code>oldest</code>: the
        cursor of the oldest event that is still kept.
      </p>
    </Dialog>
  )
}

export const readerOf = (
  url: string,
): string => `import { readFile, writeFile } from 'node:fs/promises'

let after = await readFile('cursor.txt', 'utf8').catch(() => 'start')
for (;;) {
  const query = new URLSearchParams({ after, wait: '20' })
  const answer = await fetch(\`${url}?\${query}\`, {
    headers: { 'x-api-key': process.env.KEY },
  })
  if (!answer.ok) throw new Error(\`\${answer.status} \${await answer.text()}\`)
  const { events, cursor } = await answer.json()
  for (const { id, name, payload } of events) console.log(id, name, payload)
  await writeFile('cursor.txt', cursor)
  after = cursor
}
`
