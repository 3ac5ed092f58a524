/** `@svc/core/testing`: for tests of applications. */
export { advance } from './advance.ts'
export { drain, type DrainOptions } from './drain.ts'
export {
  receiver,
  type ReceivedRequest,
  type Receiver,
  type ReceiverAnswer,
  type ReceiverOptions,
} from './receiver.ts'
export { signed, type SignedOptions, type SignedRequest } from './signed.ts'
export { testDatabase, type TestDatabase } from './test-database.ts'
