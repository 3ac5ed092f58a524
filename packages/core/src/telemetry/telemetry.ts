/** Traces and metrics of this process, if the host has registered an SDK of OpenTelemetry. */
import { AttemptTelemetry } from './attempt-telemetry.ts'
import type { Meter, Tracer } from './instruments.ts'
import type { OpenTelemetry } from './open-telemetry.ts'
import { PublishTelemetry } from './publish-telemetry.ts'

export class Telemetry {
  /** `null` where no spans are made. */
  readonly tracer: Tracer | null
  /** `null` where nothing is counted. */
  readonly meter: Meter | null
  readonly publishes: PublishTelemetry
  readonly attempts: AttemptTelemetry

  constructor(openTelemetry: OpenTelemetry) {
    this.tracer = openTelemetry.tracer
    this.meter = openTelemetry.meter
    this.publishes = new PublishTelemetry(openTelemetry)
    this.attempts = new AttemptTelemetry(openTelemetry)
  }
}
