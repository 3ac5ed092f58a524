import {
  Inject,
  Module,
  type DynamicModule,
  type InjectionToken,
  type OptionalFactoryDependency,
} from '@nestjs/common'
import { DiscoveryModule, DiscoveryService, HttpAdapterHost, MetadataScanner } from '@nestjs/core'
import type { SvcAuthOptions } from '@svc/auth'
import type { SvcConsoleOptions } from '@svc/console'
import type { SvcCoreOptions } from '@svc/core'
import type { SvcWebhooksOptions } from '@svc/webhooks'
import type { FastifyInstance } from 'fastify'
import { configureRoutes } from './decorators.ts'
import { SvcHealthIndicator } from './health-indicator.ts'
import { importPlugins, mount } from './mount.ts'
import { SvcService } from './svc-service.ts'

/** The options of each plugin. A plugin without options here is not registered, save core. */
export interface SvcModuleOptions {
  core?: SvcCoreOptions | undefined
  auth?: SvcAuthOptions | undefined
  webhooks?: SvcWebhooksOptions | undefined
  console?: SvcConsoleOptions | undefined
}

/** As of other modules of Nest: `useFactory` is given what `inject` names. */
export interface SvcModuleAsyncOptions {
  imports?: DynamicModule['imports']
  inject?: (InjectionToken | OptionalFactoryDependency)[]
  // oxlint-disable-next-line typescript/no-explicit-any -- Nest calls it with what `inject` names
  useFactory: (...injected: any[]) => SvcModuleOptions | Promise<SvcModuleOptions>
}

const OPTIONS = Symbol('@svc/nest.options')
const MOUNTED = Symbol('@svc/nest.mounted')

interface Mounted {
  svc: SvcService
  /** Undefined until the application has an adapter. */
  app: FastifyInstance | undefined
  failure: Error | undefined
}

/**
 * Registers `@svc/core`, `@svc/auth`, `@svc/webhooks` and `@svc/console` on the FastifyAdapter of the
 * application, the guard before Nest's middleware, guards and interceptors. The module is global.
 *
 * The boot fails with NotOnFastify, and with the errors of the plugins.
 *
 * @example
 * @Module({ imports: [SvcModule.forRoot({ core: { database }, auth: { scopes: ['orders:write'] } })] })
 * class AppModule {}
 */
export class SvcModule {
  #mounted: Mounted

  constructor(mounted: Mounted) {
    this.#mounted = mounted
  }

  static forRoot(options: SvcModuleOptions): DynamicModule {
    return SvcModule.forRootAsync({ useFactory: () => options })
  }

  static forRootAsync({
    imports = [],
    inject = [],
    useFactory,
  }: SvcModuleAsyncOptions): DynamicModule {
    return {
      module: SvcModule,
      global: true,
      imports: [DiscoveryModule, ...imports],
      providers: [
        { provide: OPTIONS, inject, useFactory },
        {
          provide: MOUNTED,
          inject: [OPTIONS, HttpAdapterHost, DiscoveryService, MetadataScanner],
          useFactory: start,
        },
        { provide: SvcService, inject: [MOUNTED], useFactory: ({ svc }: Mounted) => svc },
        {
          provide: SvcHealthIndicator,
          inject: [SvcService],
          useFactory: (svc: SvcService) => new SvcHealthIndicator(svc),
        },
      ],
      exports: [SvcService, SvcHealthIndicator],
    }
  }

  /** Nest calls it before it registers routes. */
  configure(): void {
    assertMounted(this.#mounted)
  }
}

Module({})(SvcModule)
Inject(MOUNTED)(SvcModule, undefined, 0)

/**
 * NestFactory has set the adapter when it makes providers. `@nestjs/testing` sets it later, and the
 * plugins are registered then.
 */
async function start(
  options: SvcModuleOptions,
  host: HttpAdapterHost,
  discovery: DiscoveryService,
  scanner: MetadataScanner,
): Promise<Mounted> {
  configureRoutes(discovery, scanner)
  const plugins = await importPlugins(options)
  const mounted: Mounted = { svc: new SvcService(), app: undefined, failure: undefined }
  host.init$.subscribe(() => {
    try {
      mounted.app = mount(host.httpAdapter, plugins, mounted.svc)
    } catch (error) {
      mounted.failure = error as Error
    }
  })
  assertMounted(mounted)
  await mounted.app?.after()
  return mounted
}

function assertMounted({ failure }: Mounted): void {
  if (failure) throw failure
}
