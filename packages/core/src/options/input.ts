import type { Static, TSchema } from '@sinclair/typebox'

/**
 * What an operation takes: a field that may be left out may also be `undefined`, as a host with
 * `exactOptionalPropertyTypes` passes on what its own input lacks.
 */
export type Input<Schema extends TSchema> = WithUndefined<Static<Schema>>

type WithUndefined<Type> = Type extends readonly unknown[]
  ? Type
  : Type extends object
    ? {
        [Name in keyof Type]: string extends Name
          ? Type[Name]
          : object extends Pick<Type, Name>
            ? WithUndefined<Type[Name]> | undefined
            : WithUndefined<Type[Name]>
      }
    : Type
