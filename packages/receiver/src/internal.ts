/** What the other packages use to sign: no part of the public interface. */
export { ownSignature, standardSignature } from './sign.ts'
