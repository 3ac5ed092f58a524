/** For tests of applications. Nothing of production depends on it. */
import '@svc/core/node-version'

export { advance } from './advance.ts'
export { drain, type DrainOptions } from './drain.ts'
export type { ReceivedRequest, ReceiverSecret } from './received-request.ts'
export type { ReceiverAnswer, ReceiverAnswers } from './receiver-answers.ts'
export { receiver, type Receiver, type ReceiverOptions } from './receiver.ts'
export { signed, type SignedOptions, type SignedRequest } from '@svc/providers/testing'
export { testDatabase, type TestDatabase } from './test-database.ts'
