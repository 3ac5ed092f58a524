import '@svc/core/node-version'

export type { Right } from './contract.ts'
