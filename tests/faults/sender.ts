/** Signs what the storm's sender sends. */
export const SENDER_SECRET = 'the-secret-of-the-sender'
