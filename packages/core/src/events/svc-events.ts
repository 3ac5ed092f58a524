/** Which events there are, for the types of `publish` and `subscribe`. */

/**
 * The payloads of a host's events by their names, to be extended where events are defined:
 * `declare module '@svc/core' { interface SvcEvents extends EventsOf<typeof events> {} }`. From then on
 * a wrong name or payload does not compile; while it is empty, every name and payload does.
 */
export interface SvcEvents {}

type DeclaredName = Extract<keyof SvcEvents, string>
type AnyName = [DeclaredName] extends [never] ? true : false

type PluginName = `svc.${string}`

/** A name that `publish` takes. */
export type PublishedName = AnyName extends true ? string : DeclaredName

/** A name that `subscribe` takes: those of `svc.…` are published by the plugins. */
// oxlint-disable-next-line typescript/no-redundant-type-constituents -- until a host declares events
export type SubscribedName = AnyName extends true ? string : DeclaredName | PluginName

/** What `publish` takes as the payload of an event. */
export type PublishedPayload<Name extends string> = Name extends keyof SvcEvents
  ? SvcEvents[Name]
  : unknown

/** What the handler of a subscription is given. */
export type SubscribedPayload<Name extends string> = Name extends keyof SvcEvents
  ? SvcEvents[Name]
  : // oxlint-disable-next-line typescript/no-explicit-any -- the host knows what it published
    any
