/**
 * The named operations of a process, to be extended by whoever registers one:
 * `declare module '@svc/core' { interface SvcActions { 'app.greet': (name: string) => Promise<string> } }`
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type
export interface SvcActions {}
