/** The icons of the page, drawn on a grid of 16. Each is beside a word or in a labelled button. */
const PATHS = {
  overview: 'M2 13V9M6 13V4M10 13V7M14 13V2',
  webhooks: 'M2 8h7M6 4l4 4-4 4M13 3v10',
  deliveries: 'M2 4h12M2 8h12M2 12h7',
  dead: 'M3 3l10 10M13 3L3 13',
  events: 'M9 1.5L3.5 9H8l-1 5.5L12.5 7H8z',
  inbound: 'M14 8H7M10 4L6 8l4 4M3 3v10',
  catalogue: 'M3 2.5h8.5a1.5 1.5 0 011.5 1.5v9.5H4.5A1.5 1.5 0 013 12zM3 12a1.5 1.5 0 011.5-1.5H13',
  users: 'M8 8a2.75 2.75 0 100-5.5A2.75 2.75 0 008 8zM2.5 14c.6-2.7 2.7-4 5.5-4s4.9 1.3 5.5 4',
  keys: 'M6 10a3.25 3.25 0 110-6.5A3.25 3.25 0 016 10zM8.5 8.5L14 14M11.5 11.5L13 10',
  tenants: 'M2.5 14V5L8 2l5.5 3v9M6 14v-3.5h4V14M6 7.5h.01M10 7.5h.01',
  audit: 'M4 1.5h6L13 4.5v10H4zM6.5 7h4M6.5 10h4',
  health: 'M1.5 8.5h3L6.5 4l3 8 2-3.5h3',
  handlers: 'M5 4L1.5 8L5 12M11 4l3.5 4-3.5 4',
  search: 'M7 12A5 5 0 107 2a5 5 0 000 10zM11 11l3.5 3.5',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  more: 'M2 4h12M2 8h12M2 12h12',
  close: 'M4 4l8 8M12 4l-8 8',
  next: 'M6 3l5 5-5 5',
  back: 'M10 3L5 8l5 5',
  plus: 'M8 3v10M3 8h10',
  info: 'M8 1.5a6.5 6.5 0 100 13 6.5 6.5 0 000-13zM8 7v4M8 4.8h.01',
  warning: 'M8 2l6.5 11.5h-13zM8 6.5v3.5M8 12h.01',
  out: 'M6 3H3v10h3M7 8h7M11 5l3 3-3 3',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
    <path d={PATHS[name]} />
  </svg>
)
