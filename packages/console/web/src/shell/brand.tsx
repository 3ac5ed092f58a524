import type { Theme } from '../server/contract.ts'
import { nameOf } from './theme.ts'

/** The host's logo where it gave one, else our sign; and the name. */
export const Brand = ({ theme }: { theme: Theme }) => (
  <>
    {theme.logo ? (
      <img src={theme.logo} alt="" />
    ) : (
      <svg class="brand-mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
        <path d="M5 12v8M12 6v20M19 11v10M26 3v26" />
      </svg>
    )}
    <bdi>{nameOf(theme)}</bdi>
  </>
)
