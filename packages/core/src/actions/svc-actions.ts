/**
 * The named operations of a process, to be extended by whoever registers one:
 * `declare module '@svc/core' { interface SvcActions { 'app.greet': (name: string) => Promise<string> } }`
 */
export interface SvcActions {}
