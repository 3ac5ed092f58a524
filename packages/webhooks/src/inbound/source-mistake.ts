/**
 * A function of a source returned what it must not, or a secret is not what it must be. The message
 * is ours, and quotes nothing of a request or a secret.
 */
export class SourceMistake extends TypeError {}
