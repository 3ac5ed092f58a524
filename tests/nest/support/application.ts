/** A real Nest application with SvcModule, on a database of its own, closed when the test ends. */
import 'reflect-metadata'
import { Module, type ModuleMetadata, type Type } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import { SvcModule, type SvcModuleOptions } from '@svc/nest'
import type { Test as Tap } from 'tap'
import { freshDatabase } from '../../support/fresh-database.ts'

export const BOOTSTRAP_KEY = 'the-bootstrap-key-of-tests'
export const ADMIN = { 'x-api-key': BOOTSTRAP_KEY }

type Decorators = { on?: MethodDecorator[]; parameters?: ParameterDecorator[] }

/** Type stripping keeps no decorators, so they are called, from the last to the first as a compiler does. */
export function controller<T extends Type>(
  decorator: ClassDecorator,
  type: T,
  handlers: Record<string, Decorators>,
): T {
  for (const [name, { on = [], parameters = [] }] of Object.entries(handlers)) {
    const descriptor = Object.getOwnPropertyDescriptor(type.prototype, name)!
    parameters.forEach((decorate, index) => decorate(type.prototype as object, name, index))
    for (const decorate of on.toReversed()) decorate(type.prototype as object, name, descriptor)
  }
  decorator(type)
  return type
}

export function moduleOf(metadata: ModuleMetadata, type: Type = class {}): Type {
  Module(metadata)(type)
  return type
}

export const optionsFor = (database: string, options: SvcModuleOptions = {}): SvcModuleOptions => ({
  ...options,
  core: {
    database: { connectionString: database, max: 5 },
    secrets: (name) => (name === 'BOOTSTRAP_KEY' ? BOOTSTRAP_KEY : null),
    worker: { enabled: false },
    ...options.core,
  },
  auth: { bootstrapKeySecret: 'BOOTSTRAP_KEY', ...options.auth },
})

export interface ApplicationOptions {
  svc?: SvcModuleOptions
  metadata?: ModuleMetadata
  /** The class of the root module, where it has middleware. */
  type?: Type
  adapter?: FastifyAdapter
  /** Of NestFactory. */
  nest?: {
    rawBody?: boolean
    bodyParser?: boolean
    forceCloseConnections?: boolean
    cors?: boolean
  }
  /** Before `app.init`. */
  before?: (app: NestFastifyApplication) => void | Promise<void>
}

/** As main.ts does it. */
export async function startApplication(
  t: Tap,
  { svc, metadata = {}, type, adapter, nest, before }: ApplicationOptions = {},
): Promise<NestFastifyApplication> {
  const database = await freshDatabase(t)
  const imports = [SvcModule.forRoot(optionsFor(database, svc)), ...(metadata.imports ?? [])]
  const app = await NestFactory.create<NestFastifyApplication>(
    moduleOf({ ...metadata, imports }, type),
    // A boot takes long on a busy machine.
    adapter ?? new FastifyAdapter({ pluginTimeout: 60_000 }),
    { logger: false, abortOnError: false, ...nest },
  )
  t.teardown(() => app.close())
  await before?.(app)
  await app.init()
  await app.getHttpAdapter().getInstance().ready()
  return app
}
