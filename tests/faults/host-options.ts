/** How a host of the storm differs from those beside it. */
export interface HostOptions {
  /** So far its clock is ahead. */
  offsetMs?: number
  /** With other options than the hosts beside it have. */
  isOther?: boolean
  /** With an older version of the packages. */
  isOlder?: boolean
}

/** Signs what the storm's sender sends. */
export const SENDER_SECRET = 'the-secret-of-the-sender'
