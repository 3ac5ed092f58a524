/** A function of a source returned what it must not. The message is ours and quotes nothing of a request. */
export class SourceMistake extends TypeError {}
