/**
 * The named operations of a process, to be extended where one is registered:
 * `declare module '@svc/core' { interface SvcActions { 'app.greet': (name: string) => Promise<string> } }`
 */
export interface SvcActions {}
