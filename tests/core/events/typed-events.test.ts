// The interface `SvcEvents`, in a project of its own: it would hold for all files of this one.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '../../..')

const compilerOptions = {
  target: 'es2024',
  lib: ['es2024'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  noEmit: true,
}

const EVENTS = `
import { Type } from '@sinclair/typebox'
import { defineEvents, type EventsOf } from '@svc/core'
export const events = defineEvents({
  'order.created': {
    payload: Type.Object({ id: Type.Integer(), note: Type.Optional(Type.String()) }),
    example: { id: 1 },
  },
  'order.imported': { payload: { type: 'object' } },
})
declare module '@svc/core' {
  interface SvcEvents extends EventsOf<typeof events> {
    'github.push': { ref: string }
  }
}
`
const USE = `
import type { FastifyInstance } from 'fastify'
import { svcCore } from '@svc/core'
import { events } from './events.ts'
export async function use(app: FastifyInstance): Promise<void> {
  await app.register(svcCore, { events, eventValidation: 'warn' })
  const { publish, subscribe } = app.svc.events
  await publish('order.created', { id: 1, note: 'n' }, { id: 'order-1' })
  await publish('order.imported', { anything: 1 })
  await subscribe('order.created', ({ id, note }, event) => {
    const typed: [number, string | undefined, string] = [id, note, event.id]
    return typed
  })
  await subscribe('github.push', ({ ref }) => ref.length)
  await subscribe('svc.webhook.failing', (payload) => payload.url)
  // @ts-expect-error -- there is no such event
  await publish('order.creatd', { id: 1 })
  // @ts-expect-error -- an id is a number
  await publish('order.created', { id: '1' })
  // @ts-expect-error -- the id is missing
  await publish('order.created', {})
  // @ts-expect-error -- events of the plugins are not published by a host
  await publish('svc.webhook.failing', {})
  // @ts-expect-error -- there is no such event
  await subscribe('order.creatd', () => {})
  // @ts-expect-error -- an id is a number
  await subscribe('order.created', ({ id }: { id: string }) => id)
}
`

t.test('events that are declared are typed by name, in publish and subscribe', async (t) => {
  const folder = t.testdir({
    'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts'] }),
    'package.json': '{ "type": "module" }',
    'events.ts': EVENTS,
    'use.ts': USE,
  })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  // Without the hooks that tap puts into each Node below it.
  const { status, stdout, stderr } = spawnSync(
    'env',
    ['-u', 'NODE_OPTIONS', process.execPath, tsc, '-p', '.'],
    { cwd: folder, encoding: 'utf8' },
  )
  t.equal(stdout + stderr, '')
  t.equal(status, 0)
})
