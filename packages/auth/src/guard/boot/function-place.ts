/** Where the text of a function stands, and in which package: only the debugger of V8 knows. */
import { Session, type Debugger, type Runtime } from 'node:inspector'
import { fileURLToPath } from 'node:url'

export interface FunctionPlace {
  /** The path of the file, and the line. */
  readonly place: string
  /** Undefined where the file is of no installed package. */
  readonly packageName: string | undefined
}

/**
 * It starts a session of the debugger, so it is for errors only. `undefined` where the place cannot be
 * told: a function of Node itself, a bound one, or a Node without a debugger.
 */
export function placeOf(wanted: (...args: never) => unknown): FunctionPlace | undefined {
  const session = new Session()
  try {
    session.connect()
    return ask(session, wanted)
  } catch {
    return undefined
  } finally {
    session.disconnect()
  }
}

/** The session takes no objects, but texts that it evaluates: the function has a name for this time. */
const NAME = '@svc/auth.placeOf'

function ask(session: Session, wanted: unknown): FunctionPlace | undefined {
  const files = new Map<string, string>()
  session.on('Debugger.scriptParsed', ({ params }) => files.set(params.scriptId, params.url))
  session.post('Debugger.enable')
  const found = locationOf(session, wanted)
  const file = found && files.get(found.scriptId)
  if (!found || !file) return undefined
  const path = file.startsWith('file:') ? fileURLToPath(file) : file
  return { place: `${path}:${found.lineNumber + 1}`, packageName: packageOf(path) }
}

/** In a session of the own thread, each answer is there when `post` returns. */
function locationOf(session: Session, wanted: unknown): Debugger.Location | undefined {
  let objectId: string | undefined
  Reflect.set(globalThis, NAME, wanted)
  session.post('Runtime.evaluate', { expression: `globalThis['${NAME}']` }, (_error, answer) => {
    objectId = answer.result.objectId
  })
  Reflect.deleteProperty(globalThis, NAME)
  if (objectId === undefined) return undefined
  let internals: Runtime.InternalPropertyDescriptor[] = []
  session.post('Runtime.getProperties', { objectId }, (_error, answer) => {
    internals = answer.internalProperties ?? []
  })
  const location = internals.find(({ name }) => name === '[[FunctionLocation]]')?.value
  return location?.value as Debugger.Location | undefined
}

const packageOf = (path: string): string | undefined =>
  /^.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(path)?.[1]?.replace('\\', '/')
